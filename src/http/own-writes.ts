import type { JobRef } from "../event-log/event-log.ts";

/**
 * What was decided through this process, so that it never answers with less: not for one job, nor in a list. It is
 * bounded; a job that fell out of it is answered as another process would answer it.
 */
export type OwnWrites = {
  remember(job: JobRef, sequence: number): void;
  /** The sequence of the last decision about a job, 0 if there is none to remember. */
  ofJob(job: JobRef): number;
  ofTenant(tenant: string): number;
};

const maxJobs = 10_000;

export function createOwnWrites(): OwnWrites {
  const byJob = new Map<string, number>();
  const byTenant = new Map<string, number>();
  const keyOf = ({ tenant, jobId }: JobRef): string => `${tenant}/${jobId}`;
  return {
    remember: (job, sequence) => {
      const key = keyOf(job);
      byJob.delete(key);
      byJob.set(key, sequence);
      for (const oldest of byJob.keys()) {
        if (byJob.size <= maxJobs) break;
        byJob.delete(oldest);
      }
      byTenant.set(job.tenant, Math.max(sequence, byTenant.get(job.tenant) ?? 0));
    },
    ofJob: (job) => byJob.get(keyOf(job)) ?? 0,
    ofTenant: (tenant) => byTenant.get(tenant) ?? 0,
  };
}
