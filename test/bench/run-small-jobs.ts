import type { ColdAndWarm } from "./cold-and-warm.ts";
import type { HttpLoadResult } from "./load/http-load.ts";
import { type HttpLoad, toPosting } from "./load/start-load.ts";
import { type CpuMicros, countingCpu, sumOf } from "./process-usage.ts";
import type { Program } from "./program.ts";
import { mailing } from "./the-mail.ts";
import { describeCpu, describeLoad, describeRounds } from "./wording.ts";

export const clients = 32;

export type SmallJobs = {
  readonly jobs: number;
  readonly jobsPerSecond: number;
  readonly posting: HttpLoadResult;
  readonly cpuMicros: CpuMicros | null;
};

/** From the first POST to the last job completed, while the clients post as fast as they are answered. */
export async function runSmallJobs(program: Program, load: HttpLoad, jobs: number): Promise<SmallJobs> {
  const { result, cpuMicros } = await countingCpu(program.pids, async () => {
    const startedAt = performance.now();
    const allEnded = program.ended(jobs);
    const posted = await load.ask(toPosting(program.port, program.path, mailing(1), jobs, clients));
    await allEnded;
    const jobsPerSecond = (jobs * 1000) / (performance.now() - startedAt);
    await program.settled();
    return { jobs, jobsPerSecond, posting: posted.result };
  });
  return { ...result, cpuMicros };
}

export const cpuMsOf = ({ cpuMicros, jobs }: SmallJobs): number | null =>
  cpuMicros === null ? null : sumOf(cpuMicros) / jobs / 1000;

export function describeSmallJobs<Round>(
  name: string,
  { cold, warm }: ColdAndWarm<Round>,
  pick: (round: Round) => SmallJobs | null,
): string {
  const results = warm.flatMap((round) => pick(round) ?? []);
  const rates = [cold, ...warm].map((round) => pick(round)?.jobsPerSecond ?? 0);
  const cpu = describeCpu(
    results.map(({ cpuMicros, jobs }) => ({ cpuMicros, units: jobs })),
    "job",
  );
  return `${name}, jobs/s: ${describeRounds(rates)}; POST ${describeLoad(results.map(({ posting }) => posting))}; ${cpu}`;
}
