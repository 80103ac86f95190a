import type { Acceptance } from "./accept-job.ts";
import { type Answer, json } from "./answer.ts";
import { jobPath } from "./job-answer.ts";

type Accepted = Extract<Acceptance, { outcome: "accepted" }>;

/** The same for the first request and for every repetition of it, whatever became of the job meanwhile. */
export function toCreatedAnswer(jobId: string, base: string, { created, isRepeat, sequence }: Accepted): Answer {
  const { scheduledAt, duplicates } = created.data;
  const status = scheduledAt === null ? "pending" : "scheduled";
  const headers = { Location: jobPath(base, jobId), "Event-Sequence": String(sequence) };
  const replayed = isRepeat ? { "Idempotency-Replayed": "true" } : {};
  return json({ jobId, status, createdAt: created.at, duplicates }, { ...headers, ...replayed }, 201);
}
