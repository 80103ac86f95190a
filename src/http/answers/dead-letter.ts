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
  outcomeCounts,
  pageOf,
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
  reply: orNull(text),
  cause: text,
  progress: outcomeCounts,
  failedAt: instant,
  attempt: ordinal,
  status: Type.Enum(["open", "requeued", "ignored", "retried"]),
  requeuedAs: orNull(text),
  reason: orNull(text),
  decidedBy: orNull(text),
  decidedAt: orNull(instant),
});

export const deadLetterPage = pageOf("DeadLetterPage", deadLetter);

/** Dead letters that failed for the same reason; the most frequent first. */
export const deadLetterCauses = Type.Object(
  {
    data: Type.Array(named("DeadLetterCause", { code: text, cause: text, letters: ordinal, newestFailedAt: instant })),
  },
  {
    title: "DeadLetterCauses",
    examples: [
      {
        data: [
          {
            code: "too-many-failures",
            cause: "554 5.7.1 Message refused",
            letters: 12,
            newestFailedAt: "2026-11-21T09:30:00.000Z",
          },
        ],
      },
    ],
  },
);

export const toDeadLetterAnswer = (letter: DeadLetterRecord): AnswerOf<typeof deadLetter> => ({
  id: runId(letter.jobId, letter.run),
  jobId: letter.jobId,
  run: letter.run,
  type: letter.type,
  name: letter.name,
  subject: letter.subject,
  error: letter.error,
  reply: letter.reply,
  cause: letter.cause,
  progress: letter.progress,
  failedAt: letter.failedAt,
  attempt: letter.attempt,
  status: letter.status,
  requeuedAs: letter.requeuedAs,
  reason: letter.reason,
  decidedBy: letter.decidedBy,
  decidedAt: letter.decidedAt,
});
