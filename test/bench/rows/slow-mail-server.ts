import { type Deployment, deploy } from "../deployment.ts";
import { startBareLoop } from "../peers/start-peers.ts";
import type { Measurement } from "../row.ts";
import { runMailing, watch } from "../run-mailing.ts";
import { startSink } from "../sink/start-sink.ts";
import { median } from "../statistics.ts";
import { toText } from "../wording.ts";

const name = "a slow mail server (20 ms a mail), 1 and 2 workers";
const msPerMail = 20;

type Round = { readonly one: number; readonly two: number; readonly bare: number };

/** Ten connections for each worker: the second one should bring as much as the first. All in mails/s. */
export const slowMailServerMeasurement: Measurement = {
  rows: [name],
  timeoutMs: 360_000,
  measure: async (bench) => {
    const { ground, lifecycle, sizes } = bench;
    const sink = await startSink(lifecycle, msPerMail);
    const bareLoop = startBareLoop(lifecycle);
    const start = (workers: readonly string[]): Promise<Deployment> =>
      deploy(ground, lifecycle, sink.url, ["projector", "scheduler", "api", ...workers]);
    const one = await watch(bench, await start(["worker"]));
    const two = await watch(bench, await start(["worker", "worker"]));
    const shape = sizes.slowMailing;
    const mails = shape.jobs * shape.recipientsPerJob;
    const runRound = async (): Promise<Round> => ({
      one: (await runMailing(bench, one, shape)).mailsPerSecond,
      two: (await runMailing(bench, two, shape)).mailsPerSecond,
      bare: mails / 2 / (await bareLoop.ask({ port: sink.port, mails: mails / 2 })).seconds,
    });
    const rounds: Round[] = [];
    for (let round = 0; round < bench.rounds; round += 1) rounds.push(await runRound());
    const middle = (pick: (round: Round) => number): number => median(rounds.map(pick));
    return [
      {
        name,
        figures: [
          { what: "× one worker, mails/s", value: middle((round) => round.two / round.one), atLeast: 1.9 },
          { what: "one worker, × bare loop", value: middle((round) => round.one / round.bare) },
        ],
        notes: [
          `1 worker ${toText(middle((round) => round.one))} mails/s, 2 workers ${toText(middle((round) => round.two))}`,
          `bare loop ${toText(middle((round) => round.bare))} mails/s; ten connections can do 500 at most`,
        ],
        rounds,
      },
    ];
  },
};
