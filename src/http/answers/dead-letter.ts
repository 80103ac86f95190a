import { Type } from "typebox";
import type { DeadLetterRecord } from "../../domain/job/dead-letter.ts";
import {
  type AnswerOf,
  error,
  instant,
  jobId,
  named,
  ordinal,
  orNull,
  pageOf,
  progress,
  runId,
  text,
} from "./parts.ts";

export const deadLetter = named("DeadLetter", {
  id: text,
  jobId,
  run: ordinal,
  type: text,
  name: orNull(text),
  subject: orNull(text),
  error,
  progress,
  failedAt: instant,
  attempt: ordinal,
  status: Type.Enum(["open", "requeued", "ignored", "retried"]),
  requeuedAs: orNull(text),
  reason: orNull(text),
  decidedBy: orNull(text),
  decidedAt: orNull(instant),
});

export const deadLetterPage = pageOf("DeadLetterPage", deadLetter);

export const toDeadLetterAnswer = (letter: DeadLetterRecord): AnswerOf<typeof deadLetter> => ({
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
