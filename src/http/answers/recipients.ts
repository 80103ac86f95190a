import { Type } from "typebox";
import { suppressionReasons } from "../../domain/recipients/events.ts";
import { recipientStatuses } from "../../domain/recipients/recipient-status.ts";
import { count, error, instant, jobId, named, numberedPageOf, ordinal, orNull, pageOf, text } from "./parts.ts";

const outcomeFields = { messageId: orNull(text), response: orNull(text), error: orNull(error) };

const logFields = {
  id: text,
  recipient: count,
  email: orNull(text),
  status: Type.Enum(["success", "failed", "deferred", "unknown", "suppressed", "bounced", "complained"]),
  attempt: ordinal,
  run: ordinal,
  sentAt: orNull(instant),
  createdAt: instant,
  ...outcomeFields,
};

export const logEntries = Type.Array(named("LogEntry", logFields));

/** Of a mailing: `recipient` counts within the part, a job. */
export const mailingLogEntries = Type.Array(named("MailingLogEntry", { jobId, ...logFields }));

const recipientFields = {
  recipient: count,
  email: orNull(text),
  status: Type.Enum([...recipientStatuses]),
  attempts: count,
  run: orNull(ordinal),
  attempt: orNull(ordinal),
  sentAt: orNull(instant),
  bouncedAt: orNull(instant),
  complainedAt: orNull(instant),
  updatedAt: instant,
  ...outcomeFields,
};

export const recipientPage = numberedPageOf("RecipientPage", named("Recipient", recipientFields));

export const mailingRecipientPage = pageOf(
  "MailingRecipientPage",
  named("MailingRecipient", { jobId, ...recipientFields }),
);

const outcome = named("RecipientOutcome", {
  sequence: ordinal,
  index: count,
  run: ordinal,
  attempt: ordinal,
  status: Type.Enum(["sent", "failed", "deferred", "unknown", "suppressed", "bounced", "complained"]),
  at: instant,
  counts: Type.Boolean(),
  ...outcomeFields,
});

const ledgerEntry = named("LedgerEntry", {
  jobId,
  recipient: count,
  email: orNull(text),
  type: text,
  name: orNull(text),
  subject: orNull(text),
  status: Type.Enum([...recipientStatuses]),
  createdAt: instant,
  updatedAt: instant,
  history: Type.Array(outcome),
});

export const ledgerPage = pageOf("LedgerPage", ledgerEntry);

export const suppression = named("Suppression", {
  email: orNull(text),
  reason: Type.Enum([...suppressionReasons]),
  createdAt: instant,
  event: Type.Optional(text),
});

export const suppressionImport = named("SuppressionImport", { entries: count, added: count, existing: count });

/** The cursor of this list is a number. */
export const suppressionPage = named("SuppressionPage", {
  data: Type.Array(suppression),
  nextCursor: orNull(count),
});

export const erasure = named("Erasure", {
  jobsErased: count,
  reportsErased: count,
  outboxRowsErased: count,
  leftoversErased: count,
  schedulesChanged: count,
  isSuppressed: Type.Boolean(),
});
