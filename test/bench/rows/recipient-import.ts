import { coldAndWarm } from "../cold-and-warm.ts";
import { deploy, separateProcesses, surroundingsOn } from "../deployment.ts";
import { draftMailing, importFile, shapeOf } from "../one-mailing.ts";
import { countingCpu } from "../process-usage.ts";
import { figureOf, type Measurement } from "../row.ts";
import { sampleMemory } from "../sample-memory.ts";
import { describeCpu, describePeaks, toText } from "../wording.ts";

const mostSeconds = 60;
const mostMb = 300;

/** A file as people have it: with faulty lines and with addresses that stand in it twice. */
export const recipientImport: Measurement = {
  name: "import of a file of recipients",
  timeoutMs: 1_200_000,
  measure: ({ sizes: { recipients }, rounds: count, onFreshServers }) =>
    onFreshServers(async (stage) => {
      const deployment = await deploy(stage, await surroundingsOn(stage.ground), separateProcesses);
      const run = async () => {
        const mailingId = await draftMailing(deployment);
        const memory = sampleMemory(deployment.pids);
        const work = () => importFile(deployment, mailingId, shapeOf(recipients));
        const { result: seconds, cpuMicros } = await countingCpu(deployment.pids, work);
        const peaks = [...memory.finish()].map(([name, { peakMb }]) => [name, peakMb] as const);
        return { seconds, cpuMicros, peaks: Object.fromEntries(peaks) };
      };
      const rounds = await coldAndWarm(count, run, async () => {});
      const seconds = { atMost: (mostSeconds * recipients) / 1_000_000 };
      const mb = { atMost: mostMb };
      return {
        figures: [
          figureOf(rounds, "s", (round) => round.seconds, { cold: seconds, warm: seconds }),
          figureOf(rounds, "API, peak MB", ({ peaks }) => peaks["api"] ?? null, { cold: mb, warm: mb }),
          figureOf(rounds, "the largest process, peak MB", ({ peaks }) => Math.max(...Object.values(peaks)), {
            cold: mb,
            warm: mb,
          }),
        ],
        notes: [
          `${toText(recipients)} lines of CSV, 1 % faulty, 5 % duplicates; no warm-up`,
          describeCpu(
            rounds.warm.map(({ cpuMicros }) => ({ cpuMicros, units: recipients })),
            "line",
          ),
          describePeaks(deployment.pids),
        ],
        rounds,
      };
    }),
};
