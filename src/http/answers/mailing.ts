import { Type } from "typebox";
import { type MailingRecord, shownStatuses } from "../../domain/mailing/mailing-record.ts";
import { weekdays } from "../../domain/mailing/window.ts";
import {
  type AnswerOf,
  count,
  instant,
  jobId,
  named,
  numberedPageOf,
  ordinal,
  orNull,
  priority,
  progress,
  recordOf,
  templateUse,
  text,
} from "./parts.ts";

const approval = named("MailingApproval", {
  status: Type.Enum(["requested", "approved", "rejected"]),
  digest: text,
  scheduledAt: orNull(instant),
  requestedBy: text,
  requestedAt: instant,
  decidedBy: orNull(text),
  decidedAt: orNull(instant),
  reason: orNull(text),
});

const test = named("MailingTest", { jobId, recipients: ordinal, testedAt: instant });

export const mailing = named("Mailing", {
  id: jobId,
  name: orNull(text),
  status: Type.Enum([...shownStatuses]),
  priority,
  progress,
  subject: orNull(text),
  parts: count,
  partsMade: count,
  maxAttempts: ordinal,
  createdAt: instant,
  scheduledAt: orNull(instant),
  notAfter: orNull(instant),
  startedAt: orNull(instant),
  undoUntil: orNull(instant),
  approval: orNull(approval),
  tests: Type.Array(test),
  rate: orNull(ordinal),
  rampUp: orNull(named("RampUp", { firstHour: ordinal, growth: Type.Number() })),
  window: orNull(
    named("SendingWindow", { days: Type.Array(Type.Enum([...weekdays])), from: text, to: text, timeZone: text }),
  ),
  stopWhen: orNull(
    named("StopWhen", {
      failureRate: orNull(Type.Number()),
      bounceRate: Type.Optional(Type.Number()),
      complaintRate: Type.Optional(Type.Number()),
      after: ordinal,
    }),
  ),
  stoppedBy: orNull(
    named("StoppedBy", { tried: count, failed: count, of: Type.Optional(Type.Enum(["bounces", "complaints"])) }),
  ),
  completedAt: orNull(instant),
  metadata: recordOf(text),
  links: named("MailingLinks", { self: text, jobs: text }),
});

export type MailingAnswer = AnswerOf<typeof mailing>;

export const mailingPage = numberedPageOf("MailingPage", mailing);

/** `base` is the base path of the request, `/api` or `/api/v1`. */
export function toMailingAnswer(record: MailingRecord, base: string): MailingAnswer {
  const { brakes } = record;
  const { sent, failed, total, pending, deferred, unknown, suppressed, bounced, complained } = record.progress;
  return {
    id: record.id,
    name: record.name,
    status: record.status,
    priority: record.priority,
    progress: { sent, failed, total, pending, deferred, unknown, suppressed, bounced, complained },
    subject: record.subject,
    parts: record.parts,
    partsMade: record.partsMade,
    maxAttempts: record.maxAttempts,
    createdAt: record.createdAt,
    scheduledAt: record.scheduledAt,
    notAfter: record.notAfter,
    startedAt: record.startedAt,
    undoUntil: record.undoUntil,
    approval: record.approval,
    tests: [...record.tests],
    rate: brakes?.ratePerHour ?? null,
    rampUp: brakes?.rampUp ?? null,
    window: brakes?.window ? { ...brakes.window, days: [...brakes.window.days] } : null,
    stopWhen: brakes?.stopWhen ?? null,
    stoppedBy: record.stoppedBy,
    completedAt: record.completedAt,
    metadata: record.metadata,
    links: { self: mailingPath(base, record.id), jobs: `${base}/jobs?mailing=${record.id}` },
  };
}

export const mailingPath = (base: string, mailingId: string): string => `${base}/mailings/${mailingId}`;

export const createdMailing = named("CreatedMailing", {
  mailingId: jobId,
  status: Type.Literal("draft"),
  createdAt: instant,
  template: Type.Optional(templateUse),
});

export const recipientImport = named("RecipientImport", {
  lines: count,
  added: count,
  duplicates: count,
  faulty: count,
  faults: Type.Array(named("LineFault", { line: ordinal, message: text })),
});

export const createdTest = named("CreatedMailingTest", {
  mailingId: jobId,
  jobId,
  recipients: ordinal,
  createdAt: instant,
});
