import type { DeadLetterRecord } from "../../domain/job/dead-letter.ts";
import { runId } from "../routes/run-ref.ts";

/** A dead letter as it stands in an answer. */
export const toDeadLetterAnswer = (letter: DeadLetterRecord) => ({
  id: runId(letter.jobId, letter.run),
  jobId: letter.jobId,
  run: letter.run,
  type: letter.type,
  name: letter.name,
  subject: letter.subject,
  error: letter.error,
  progress: letter.progress,
  failedAt: letter.failedAt,
  attempt: letter.attempt,
  status: letter.status,
  requeuedAs: letter.requeuedAs,
  reason: letter.reason,
  decidedBy: letter.decidedBy,
  decidedAt: letter.decidedAt,
});
