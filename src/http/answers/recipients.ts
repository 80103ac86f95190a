import { type Static, type TSchema, Type } from "typebox";
import type { LogList } from "../../../projections/logs/queries.ts";
import type { LedgerPage, RecipientList } from "../../../projections/recipients/queries.ts";
import { recipientStatuses } from "../../domain/recipients/recipient-status.ts";
import type { SameShape } from "../../schemas/same-shape.ts";
import { suppressionReasons } from "../../schemas/suppression-request.ts";
import type { SuppressionPage } from "../../suppressions/suppression-store.ts";
import { count, error, instant, jobId, named, numberedPageOf, ordinal, orNull, pageOf, text } from "./parts.ts";

const told = { messageId: orNull(text), response: orNull(text), error: orNull(error) };

const logEntry = named("LogEntry", {
  id: text,
  recipient: count,
  email: orNull(text),
  status: Type.Enum(["success", "failed", "deferred", "unknown", "suppressed"]),
  attempt: ordinal,
  run: ordinal,
  sentAt: orNull(instant),
  createdAt: instant,
  ...told,
});

export const logEntries = Type.Array(logEntry);

const recipient = named("Recipient", {
  recipient: count,
  email: orNull(text),
  status: Type.Enum([...recipientStatuses]),
  attempts: count,
  run: orNull(ordinal),
  attempt: orNull(ordinal),
  sentAt: orNull(instant),
  updatedAt: instant,
  ...told,
});

export const recipientPage = numberedPageOf("RecipientPage", recipient);

const outcome = named("RecipientOutcome", {
  sequence: ordinal,
  run: ordinal,
  attempt: ordinal,
  status: Type.Enum(["sent", "failed", "deferred", "unknown", "suppressed"]),
  at: instant,
  counts: Type.Boolean(),
  ...told,
});

const ledgerFields = {
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
};

const ledgerEntry = named("LedgerEntry", ledgerFields);

export const ledgerPage = pageOf("LedgerPage", ledgerEntry);

export const suppression = named("Suppression", {
  email: orNull(text),
  reason: Type.Enum([...suppressionReasons]),
  createdAt: instant,
});

export const suppressionImport = named("SuppressionImport", { entries: count, added: count, existing: count });

/** Its cursor is a number. */
export const suppressionPage = named("SuppressionPage", {
  data: Type.Array(suppression),
  nextCursor: orNull(count),
});

export const erasure = named("Erasure", {
  jobsErased: count,
  reportsErased: count,
  outboxRowsErased: count,
  leftoversErased: count,
  isSuppressed: Type.Boolean(),
});

type Like<Schema extends TSchema, Answered> = SameShape<Static<Schema>, Answered>;

true satisfies Like<typeof logEntry, LogList["entries"][number]>;
true satisfies Like<typeof recipient, RecipientList["recipients"][number]>;
true satisfies Like<typeof ledgerEntry, LedgerPage["entries"][number]>;
true satisfies Like<typeof suppression, SuppressionPage["suppressions"][number]>;
