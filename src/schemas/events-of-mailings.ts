import { Type } from "typebox";
import { defaultJobType } from "../domain/job/events.ts";
import { weekdays } from "../domain/mailing/window.ts";
import {
  counts,
  data,
  instant,
  jobType,
  natural,
  on,
  orNull,
  positive,
  priority,
  reason,
  sha256,
  templateUse,
} from "./event-fields.ts";

const decision = on("mailing");

const part = data({ jobId: Type.String(), recipients: positive, contentSha256: sha256 });
const brakes = data({
  ratePerHour: orNull(positive),
  rampUp: orNull(data({ firstHour: positive, growth: Type.Number() })),
  window: orNull(
    data({
      days: Type.Array(Type.Enum([...weekdays])),
      from: Type.String(),
      to: Type.String(),
      timeZone: Type.String(),
    }),
  ),
  stopWhen: orNull(
    data({
      failureRate: orNull(Type.Number()),
      bounceRate: Type.Optional(Type.Number()),
      complaintRate: Type.Optional(Type.Number()),
      after: positive,
    }),
  ),
});
const stoppedBy = data({
  tried: natural,
  failed: natural,
  of: Type.Optional(Type.Enum(["bounces", "complaints"])),
});
const endedPart = data({ part: natural, result: Type.Enum(["completed", "failed", "cancelled"]), counts });

/** Decisions about a mailing. */
export const eventsOfMailings = {
  MailingCreated: decision(
    {
      type: jobType,
      priority,
      contentSha256: sha256,
      requestSha256: orNull(sha256),
      notAfter: orNull(instant),
      maxAttempts: positive,
      retryDelayMs: orNull(natural),
      deferForMs: Type.Optional(orNull(natural)),
      onUnknown: Type.Enum(["resend", "skip"]),
      groupSha256: orNull(sha256),
      template: Type.Optional(templateUse),
      route: Type.Optional(Type.String()),
      undoForMs: natural,
      needsApproval: Type.Boolean(),
      brakes: orNull(brakes),
    },
    {
      type: defaultJobType,
      priority: "low",
      contentSha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      requestSha256: null,
      notAfter: "2026-11-22T12:00:00.000Z",
      maxAttempts: 4,
      retryDelayMs: null,
      onUnknown: "resend",
      groupSha256: null,
      template: {
        name: "welcome",
        version: 3,
        sha256: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
      },
      undoForMs: 600_000,
      needsApproval: true,
      brakes: {
        ratePerHour: 50_000,
        rampUp: { firstHour: 1000, growth: 2 },
        window: { days: ["mon", "tue"], from: "08:00", to: "20:00", timeZone: "Europe/Berlin" },
        stopWhen: { failureRate: 0.05, after: 1000 },
      },
    },
  ),
  MailingPartsAdded: decision(
    { first: natural, parts: Type.Array(part, { minItems: 1 }) },
    {
      first: 2,
      parts: [
        {
          jobId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0e",
          recipients: 1000,
          contentSha256: "3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea",
        },
      ],
    },
  ),
  MailingPartAbandoned: decision({ jobId: Type.String() }, { jobId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0e" }),
  MailingStarted: decision(
    { parts: positive, recipients: positive, scheduledAt: orNull(instant), undoUntil: orNull(instant) },
    {
      parts: 3,
      recipients: 2400,
      scheduledAt: "2026-11-21T12:00:00.000Z",
      undoUntil: "2026-11-21T12:00:00.000Z",
    },
  ),
  MailingTested: decision(
    { jobId: Type.String(), recipients: positive },
    { jobId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e1f", recipients: 2 },
  ),
  MailingApprovalRequested: decision(
    {
      digest: sha256,
      parts: positive,
      recipients: positive,
      scheduledAt: orNull(instant),
      requestedBy: Type.String(),
    },
    {
      digest: "3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea",
      parts: 3,
      recipients: 2400,
      scheduledAt: null,
      requestedBy: "key:Zm9vYmFy",
    },
  ),
  MailingApproved: decision(
    { digest: sha256, approvedBy: Type.String() },
    {
      digest: "3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea",
      approvedBy: "key:YmFyZm9v",
    },
  ),
  MailingRejected: decision(
    { digest: sha256, rejectedBy: Type.String(), reason: Type.String() },
    {
      digest: "3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea",
      rejectedBy: "key:YmFyZm9v",
      reason: "the price is wrong",
    },
  ),
  MailingUndone: decision({ reason }, { reason: "the price is wrong" }),
  MailingReleased: decision({ parts: positive }, { parts: 3 }),
  MailingPaused: decision(
    { reason, stoppedBy: Type.Optional(stoppedBy) },
    { reason: "120 of 1000 recipients failed.", stoppedBy: { tried: 1000, failed: 120 } },
  ),
  MailingReportsCounted: decision(
    { sent: natural, bounced: natural, complained: natural, upTo: positive },
    { sent: 24000, bounced: 131, complained: 2, upTo: 90210 },
  ),
  MailingResumed: decision({ reason }, { reason: "checked" }),
  MailingCancelled: decision({ reason }, { reason: "sent by mistake" }),
  MailingPartsEnded: decision(
    { parts: Type.Array(endedPart, { minItems: 1 }) },
    {
      parts: [
        {
          part: 2,
          result: "failed",
          counts: { total: 400, sent: 97, failed: 302, pending: 0, deferred: 0, unknown: 0, suppressed: 1 },
        },
      ],
    },
  ),
  MailingCompleted: decision(
    { result: Type.Enum(["completed", "completed-with-failures", "failed"]), counts },
    {
      result: "completed-with-failures",
      counts: { total: 2400, sent: 2097, failed: 302, pending: 0, deferred: 0, unknown: 0, suppressed: 1 },
    },
  ),
  MailingRetried: decision(
    {
      parts: Type.Array(natural, { minItems: 1 }),
      scope: Type.Enum(["failed", "unknown", "unsent"]),
      reason,
    },
    { parts: [2], scope: "failed", reason: "the mail server is back" },
  ),
  MailingContentErased: decision({ reason }, { reason: "No mailing was made of it." }),
} as const;
