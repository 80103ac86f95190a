import type { RawEvent } from "../../faults/log-reader.ts";

type Step = { readonly what: string; readonly isDecision: boolean; times: number; readonly from: string; to: string };

/**
 * The life of the job that ended last, in one sentence: where it waited, a reader sees then. Facts of one type and worker
 * between two decisions count together.
 */
export function lifeOfLatest(events: readonly RawEvent[]): string {
  const jobId = events.findLast(({ type }) => type === "JobCompleted" || type === "JobFailed")?.jobId;
  const steps: Step[] = [];
  for (const { type, time, data } of events.filter((event) => event.jobId === jobId)) {
    const isDecision = type.startsWith("Job");
    const what = typeof data["worker"] === "string" ? `${type} by ${data["worker"]}` : type;
    const at = time.slice(11, 23);
    const sinceDecision = steps.slice(steps.findLastIndex((step) => step.isDecision) + 1);
    const known = sinceDecision.find((step) => !isDecision && step.what === what);
    if (known === undefined) steps.push({ what, isDecision, times: 1, from: at, to: at });
    else [known.times, known.to] = [known.times + 1, at];
  }
  const told = steps.map(({ what, times, from, to }) =>
    times === 1 ? `${what} at ${from}` : `${what} ${times} x from ${from} to ${to}`,
  );
  return `the last job to end, ${jobId}: ${told.join(", ")}`;
}
