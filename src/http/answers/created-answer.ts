import type { Accepted } from "../../intake/accept-job.ts";
import { toCreatedJob } from "../../intake/created-job.ts";
import { type Answer, json } from "../server/answer.ts";
import { jobPath } from "./job-answer.ts";

/** The same for the first request and for every repetition of it, whatever became of the job meanwhile. */
export function toCreatedAnswer(base: string, { job: { jobId }, created, isRepeat, sequence }: Accepted): Answer {
  const headers = { Location: jobPath(base, jobId), "Event-Sequence": String(sequence) };
  const replayed = isRepeat ? { "Idempotency-Replayed": "true" } : {};
  return json(
    { ...toCreatedJob(jobId, created), duplicates: created.data.duplicates },
    { ...headers, ...replayed },
    201,
  );
}
