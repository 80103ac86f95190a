import { setTimeout as pause } from "node:timers/promises";
import { startProcess, surroundingsOn } from "../deployment.ts";
import { type CpuMicros, countingCpu } from "../process-usage.ts";
import { watchProgress } from "../read-models.ts";
import type { Measurement, Stage } from "../row.ts";
import { median } from "../statistics.ts";
import { describeCpu, toText } from "../wording.ts";
import { type WrittenHistory, writeHistory } from "../write-history.ts";

const lookEveryMs = 20;
/** The part of the history that warms the process up. */
const firstPart = 0.2;

type Sample = { readonly at: number; readonly sequence: number };
type Round = {
  readonly samples: readonly Sample[];
  readonly cpuMicros: CpuMicros | null;
};

/** A projector that finds a log in front of it: the live one, not a rebuild. */
export const catchingUp: Measurement = {
  name: "the live projector catches up",
  timeoutMs: 900_000,
  measure: ({ sizes, rounds: count, onFreshServers }) =>
    onFreshServers(async (stage) => {
      const { nats } = await surroundingsOn(stage.ground);
      const history = await writeHistory({ nats }, sizes.projectedEvents);
      const rounds: Round[] = [];
      while (rounds.length < count) rounds.push(await catchUp(stage, nats, history));
      const [cold = 0] = rounds.map((round) => eventsPerSecond(round, history, 0, firstPart));
      const warm = median(rounds.map((round) => eventsPerSecond(round, history, firstPart, 1)));
      const cpu = rounds.map(({ cpuMicros }) => ({ cpuMicros, units: history.events }));
      return {
        figures: [{ what: "events/s", cold, warm, targets: { warm: { atLeast: 25_000 } } }],
        notes: [
          `${toText(history.events)} events; cold: the first ${toText(firstPart * history.events)} of a process; warm: the others`,
          describeCpu(cpu, "event"),
        ],
        rounds,
      };
    }),
};

/** In an empty database, by a process of its own. */
async function catchUp(
  stage: Stage,
  nats: Awaited<ReturnType<typeof surroundingsOn>>["nats"],
  { messages }: WrittenHistory,
): Promise<Round> {
  const surroundings = { ...(await surroundingsOn(stage.ground)), nats };
  const started = await startProcess(stage.lifecycle, surroundings, "projector");
  const progress = await watchProgress(stage, surroundings);
  const pids = new Map([
    ["projector", started.pid],
    ["nats", stage.ground.nats.pid],
    ["database", stage.ground.database.pid],
  ]);
  const { result: samples, cpuMicros } = await countingCpu(pids, async () => {
    const seen: Sample[] = [];
    for (let sequence = 0; sequence < messages; await pause(lookEveryMs)) {
      sequence = await progress.projected();
      if (sequence > 0) seen.push({ at: performance.now(), sequence });
    }
    return seen;
  });
  await started.kill();
  return { samples, cpuMicros };
}

/** Between two parts of the history, as the slowest read model was seen. */
function eventsPerSecond({ samples }: Round, { events, messages }: WrittenHistory, from: number, to: number) {
  const at = (part: number): Sample | undefined => samples.find(({ sequence }) => sequence >= part * messages);
  const [first, last] = [at(from), at(to)];
  if (first === undefined || last === undefined || last.at === first.at) return 0;
  const sequences = last.sequence - first.sequence;
  return (sequences * (events / messages) * 1000) / (last.at - first.at);
}
