import { createApiClient } from "../support/api-client.ts";
import { type Deployment, withServers } from "./deployment.ts";
import { type EndedJobs, watchEndedJobs } from "./ended-jobs.ts";
import { type CpuMicros, countingCpu } from "./process-usage.ts";
import { type Progress, watchProgress } from "./read-models.ts";
import type { Bench } from "./row.ts";
import { mailing } from "./the-mail.ts";

export type MailingShape = { readonly jobs: number; readonly recipientsPerJob: number };

export type MailingResult = {
  /** From the first POST to the last job completed. */
  readonly seconds: number;
  readonly mailsPerSecond: number;
  /** Until the read models had it all, too; null where the system does not tell. */
  readonly cpuMicros: CpuMicros | null;
};

/** A deployment and what it is watched with. */
export type Watched = { readonly deployment: Deployment; readonly ended: EndedJobs; readonly progress: Progress };

export async function watch({ ground, lifecycle }: Bench, deployment: Deployment): Promise<Watched> {
  return {
    deployment,
    ended: await watchEndedJobs(ground, lifecycle, deployment),
    progress: await watchProgress(ground, lifecycle, deployment),
  };
}

/** Posts the jobs one after the other, as an application would, and waits for their end and for the read models. */
export async function runMailing(
  { ground }: Bench,
  { deployment, ended, progress }: Watched,
  { jobs, recipientsPerJob }: MailingShape,
): Promise<MailingResult> {
  const client = createApiClient(deployment.url);
  const { result: seconds, cpuMicros } = await countingCpu(withServers(ground, deployment), async () => {
    const startedAt = performance.now();
    const allEnded = ended.next(jobs);
    for (let job = 0; job < jobs; job += 1) await client.create(mailing(recipientsPerJob));
    await allEnded;
    const endedAt = performance.now();
    await progress.caughtUp();
    return (endedAt - startedAt) / 1000;
  });
  return { seconds, mailsPerSecond: (jobs * recipientsPerJob) / seconds, cpuMicros };
}
