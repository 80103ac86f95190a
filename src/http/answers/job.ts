import { type Static, Type } from "typebox";
import { jobStatuses } from "../../domain/job/job-view.ts";
import type { toCreatedJob } from "../../intake/created-job.ts";
import type { SameShape } from "../../schemas/same-shape.ts";
import type { toJobAnswer } from "./job-answer.ts";
import {
  count,
  error,
  instant,
  jobId,
  named,
  ordinal,
  orNull,
  priority,
  progress,
  recordOf,
  searchedPageOf,
  text,
} from "./parts.ts";

const jobFields = {
  id: jobId,
  type: text,
  name: orNull(text),
  status: Type.Enum([...jobStatuses]),
  priority,
  progress,
  subject: orNull(text),
  attempt: count,
  maxAttempts: ordinal,
  createdAt: instant,
  scheduledAt: orNull(instant),
  startedAt: orNull(instant),
  completedAt: orNull(instant),
  nextAttemptAt: orNull(instant),
  error: orNull(error),
  requeueOf: orNull(jobId),
  metadata: recordOf<typeof text, string>(text),
  links: named("JobLinks", { self: text, logs: text, events: text, stream: text, result: Type.Optional(text) }),
};

export const job = named("Job", jobFields);

true satisfies SameShape<Static<typeof job>, ReturnType<typeof toJobAnswer>>;

export const jobPage = searchedPageOf("JobPage", job);

const created = {
  jobId,
  status: Type.Enum(["pending", "scheduled"]),
  createdAt: instant,
  duplicates: count,
};

true satisfies SameShape<
  Omit<Static<ReturnType<typeof named<typeof created>>>, "duplicates">,
  ReturnType<typeof toCreatedJob>
>;

/** With `Prefer: wait=N` it is the job as it stood when the answer was given. */
export const createdJob = Type.Union([
  named("CreatedJob", created),
  named("CreatedJobAwaited", { ...created, ...jobFields }),
]);

const attachment = Type.Object({
  filename: text,
  contentType: text,
  contentId: orNull(text),
  size: count,
  sha256: text,
});

export const dryRunResult = named("DryRun", {
  dryRun: Type.Literal(true),
  recipients: count,
  duplicates: count,
  mail: Type.Object({
    from: text,
    to: text,
    replyTo: orNull(text),
    subject: text,
    html: orNull(text),
    text: orNull(text),
    headers: recordOf<typeof text, string>(text),
    attachments: Type.Array(attachment),
    size: count,
    raw: text,
  }),
  warnings: Type.Array(Type.Object({ code: text, message: text })),
});
