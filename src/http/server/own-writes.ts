import type { JobRef } from "../../event-log/event-log.ts";

/**
 * What was decided through this process and what it has shown, so that it never answers with less: not for one job, nor,
 * of what was decided, in a list. It is bounded; a job that fell out of it is answered as another process would answer it.
 */
export type OwnWrites = {
  remember(job: JobRef, sequence: number): void;
  /** An answer told of a job as it was then: the next one about this job is to tell no less. */
  show(job: JobRef, sequence: number): void;
  /** The last sequence that was decided or shown about a job, 0 if there is none to remember. */
  ofJob(job: JobRef): number;
  ofTenant(tenant: string): number;
};

const maxJobs = 10_000;

export function createOwnWrites(): OwnWrites {
  const byJob = new Map<string, number>();
  const byTenant = new Map<string, number>();
  const keyOf = ({ tenant, jobId }: JobRef): string => `${tenant}/${jobId}`;
  const show = (job: JobRef, sequence: number): void => {
    const key = keyOf(job);
    // Of two answers at once the older one may come to this last.
    const latest = Math.max(sequence, byJob.get(key) ?? 0);
    byJob.delete(key);
    byJob.set(key, latest);
    for (const oldest of byJob.keys()) {
      if (byJob.size <= maxJobs) break;
      byJob.delete(oldest);
    }
  };
  return {
    show,
    remember: (job, sequence) => {
      show(job, sequence);
      byTenant.set(job.tenant, Math.max(sequence, byTenant.get(job.tenant) ?? 0));
    },
    ofJob: (job) => byJob.get(keyOf(job)) ?? 0,
    ofTenant: (tenant) => byTenant.get(tenant) ?? 0,
  };
}
