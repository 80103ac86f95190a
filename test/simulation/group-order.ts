import type { Entry } from "./shared-log.ts";

/** Each job that started while another of the group was before it. There is one group in a world. */
export function startsOutOfOrder(entries: readonly Entry[]): string[] {
  const places = new Map<string, number>();
  const faults: string[] = [];
  for (const { event, jobId, sequence } of entries) {
    const { type } = event;
    if (type === "JobStarted") {
      const own = places.get(jobId);
      const before = own === undefined ? [] : [...places].filter(([, place]) => place < own);
      for (const [other] of before) faults.push(`${jobId} started at #${sequence} before ${other} had ended`);
    }
    if ((type === "JobCreated" || type === "JobRetried") && event.data.groupSha256 !== null)
      places.set(jobId, sequence);
    if (type === "JobCompleted" || type === "JobFailed" || type === "JobCancelled") places.delete(jobId);
  }
  return faults;
}
