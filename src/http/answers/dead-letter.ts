import { type Static, Type } from "typebox";
import type { SameShape } from "../../schemas/same-shape.ts";
import type { toDeadLetterAnswer } from "./dead-letter-answer.ts";
import { error, instant, jobId, named, ordinal, orNull, pageOf, progress, text } from "./parts.ts";

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

true satisfies SameShape<Static<typeof deadLetter>, ReturnType<typeof toDeadLetterAnswer>>;

export const deadLetterPage = pageOf("DeadLetterPage", deadLetter);
