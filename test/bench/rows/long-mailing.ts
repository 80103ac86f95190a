import { deploy, separateProcesses } from "../deployment.ts";
import type { Figure, Measurement, Row } from "../row.ts";
import { type MailingShape, runMailing, watch } from "../run-mailing.ts";
import { type LagSampler, sampleLag } from "../sample-lag.ts";
import { type MemoryUse, sampleMemory } from "../sample-memory.ts";
import { startSink } from "../sink/start-sink.ts";
import { percentile } from "../statistics.ts";
import { describeCpu, toText } from "../wording.ts";

const lagName = "projection lag under full load";
const memoryName = "memory over a long mailing";

/** Grown by less than this is flat: the collector runs when it likes. */
const flat = 1.15;

/** One long mailing, once, however many rounds there are: what grows does so with the mails. */
export const longMailingMeasurement: Measurement = {
  rows: [lagName, memoryName],
  timeoutMs: 420_000,
  measure: async (bench) => {
    const { ground, lifecycle, sizes } = bench;
    const sink = await startSink(lifecycle);
    const watched = await watch(bench, await deploy(ground, lifecycle, sink.url, separateProcesses));
    await runMailing(bench, watched, { jobs: 2, recipientsPerJob: 500 });
    const memory = sampleMemory(watched.deployment.pids);
    const lag = sampleLag(watched.progress);
    const { mailsPerSecond, cpuMicros } = await runMailing(bench, watched, sizes.longMailing);
    const uses = memory.finish();
    const cpu = describeCpu([{ cpuMicros, units: mailsOf(sizes.longMailing) }], "mail");
    return [await toLagRow(lag, mailsPerSecond), toMemoryRow(uses, sizes.longMailing, cpu)];
  },
};

const mailsOf = ({ jobs, recipientsPerJob }: MailingShape): number => jobs * recipientsPerJob;

async function toLagRow(lag: LagSampler, mailsPerSecond: number): Promise<Row> {
  const lags = await lag.finish();
  return {
    name: lagName,
    figures: [
      { what: "stored to visible, p99, ms", value: percentile(lags, 99), atMost: 500 },
      { what: "p50, ms", value: percentile(lags, 50) },
      // By then all jobs are created: their recipients are rows, and what is projected is what is sent.
      { what: "p99 in the second half, ms", value: percentile(lags.slice(lags.length / 2), 99) },
    ],
    notes: [
      `${lags.length} looks at the log, each until the slowest read model had come as far; at most ${toText(Math.max(...lags))} ms`,
      `${toText(mailsPerSecond)} mails/s went out meanwhile`,
    ],
    rounds: [lags],
  };
}

function toMemoryRow(uses: ReadonlyMap<string, MemoryUse>, shape: MailingShape, cpu: string): Row {
  const roles = ["worker", "projector", "api"] as const;
  const figures: Figure[] = roles.flatMap((role) => [
    { what: `${role}, peak MB`, value: uses.get(role)?.peakMb ?? null, atMost: 200 },
    { what: `${role}, second half ÷ first half`, value: uses.get(role)?.growth ?? null, atMost: flat },
  ]);
  return {
    name: memoryName,
    figures,
    notes: [`${toText(mailsOf(shape))} mails; ${cpu}`],
    rounds: [Object.fromEntries(uses)],
  };
}
