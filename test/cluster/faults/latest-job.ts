import type { RawEvent } from "../../faults/log-reader.ts";

/** The life of the job that ended last, in one sentence: where it waited, a reader sees then. */
export function lifeOfLatest(events: readonly RawEvent[]): string {
  const decisions = events.filter(({ type }) => type.startsWith("Job"));
  const jobId = decisions.findLast(({ type }) => type === "JobCompleted" || type === "JobFailed")?.jobId;
  const life = decisions.filter((event) => event.jobId === jobId);
  const steps = life.map(({ type, time, data }) => {
    const worker = typeof data["worker"] === "string" ? ` by ${data["worker"]}` : "";
    return `${type}${worker} at ${time.slice(11, 23)}`;
  });
  return `the last job to end, ${jobId}: ${steps.join(", ")}`;
}
