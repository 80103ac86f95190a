import { Type } from "typebox";
import { jobStatuses } from "../../domain/job/job-view.ts";
import { shownStatuses } from "../../domain/mailing/mailing-record.ts";
import { reasonCodes } from "../../explain/reason.ts";
import { instant, jobId, named, orNull, text } from "./parts.ts";

const reason = named("Reason", {
  code: Type.Enum([...reasonCodes]),
  since: orNull(instant),
  message: text,
  until: orNull(instant),
  changedBy: orNull(text),
});

const notKnown = Type.Array(Type.Enum(["workers", "group", "jobs-ahead", "receivers", "parts"]), {
  description: "What could not be found out now; the reasons say nothing about it.",
});

export const jobExplanation = named("JobExplanation", {
  id: jobId,
  status: Type.Enum([...jobStatuses]),
  reasons: Type.Array(reason),
  notKnown,
});

export const mailingExplanation = named("MailingExplanation", {
  id: jobId,
  status: Type.Enum([...shownStatuses]),
  reasons: Type.Array(reason),
  notKnown,
});
