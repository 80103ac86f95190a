import { accepted, rejected } from "../decider.ts";
import type { Instant } from "../message.ts";
import type { ApprovalTerms, CommandOf } from "./commands.ts";
import type { MailingEvent, MailingPart, MailingSettings } from "./events.ts";
import type { Approval, ExistingMailing, MailingDecision } from "./state.ts";

export const needsApproval = (
  settings: MailingSettings,
  recipients: number,
  terms: ApprovalTerms | undefined,
): boolean => settings.needsApproval || (terms !== undefined && terms.above !== null && recipients > terms.above);

/** Only keys tell callers apart. */
export const canBeToldApart = (actor: string): boolean => actor.startsWith("key:");

/** The same for the same letter, settings, time and recipients; another one where any of them differs. */
export function digestToApprove(
  { settings, parts }: { readonly settings: MailingSettings; readonly parts: readonly MailingPart[] },
  scheduledAt: Instant | null,
  sha256: ApprovalTerms["sha256"],
): string {
  const lines = parts.map(({ jobId, recipients, contentSha256 }) => `${jobId} ${recipients} ${contentSha256}\n`);
  const sorted = Object.entries(settings).sort(([one], [other]) => (one < other ? -1 : 1));
  return sha256(JSON.stringify({ settings: Object.fromEntries(sorted), scheduledAt, parts: sha256(lines.join("")) }));
}

/** For a draft that could start. */
export function requestApproval(
  { at, scheduledAt, terms }: CommandOf<"StartMailing">,
  state: ExistingMailing,
  recipients: number,
): MailingDecision {
  if (terms === undefined || !canBeToldApart(terms.by)) return rejected({ code: "approval-needs-keys" });
  const digest = digestToApprove(state, scheduledAt, terms.sha256);
  const data = { digest, parts: state.parts.length, recipients, scheduledAt, requestedBy: terms.by };
  return accepted({ type: "MailingApprovalRequested", at, data });
}

/** `toStart` decides the start, as it is without an approval: both are recorded, or none. */
export function approve(
  { at, by, digest }: CommandOf<"ApproveMailing">,
  state: ExistingMailing,
  toStart: (scheduledAt: Instant | null) => MailingDecision,
): MailingDecision {
  const { status, approval } = state;
  if (approval === null || status !== "awaiting-approval") {
    const isRepeat = approval?.status === "approved" && approval.digest === digest && approval.decidedBy === by;
    return isRepeat ? accepted() : rejected({ code: "mailing-not-awaiting-approval", currentStatus: status });
  }
  const refusal = whyNotToDecide(by, approval);
  if (refusal !== null) return refusal;
  if (approval.digest !== digest) return rejected({ code: "approval-digest-differs", digest: approval.digest });
  const start = toStart(approval.scheduledAt);
  if (start.outcome === "rejected") return start;
  const approved: MailingEvent = { type: "MailingApproved", at, data: { digest, approvedBy: by } };
  return accepted(approved, ...start.events);
}

export function reject({ at, by, reason }: CommandOf<"RejectMailing">, state: ExistingMailing): MailingDecision {
  const { status, approval } = state;
  if (approval === null || status !== "awaiting-approval") {
    const isRepeat = status === "draft" && approval?.status === "rejected" && approval.decidedBy === by;
    return isRepeat ? accepted() : rejected({ code: "mailing-not-awaiting-approval", currentStatus: status });
  }
  const refusal = whyNotToDecide(by, approval);
  if (refusal !== null) return refusal;
  return accepted({ type: "MailingRejected", at, data: { digest: approval.digest, rejectedBy: by, reason } });
}

function whyNotToDecide(by: string, { requestedBy }: Approval): MailingDecision | null {
  if (!canBeToldApart(by)) return rejected({ code: "approval-needs-keys" });
  return by === requestedBy ? rejected({ code: "approval-needs-another-key" }) : null;
}

/** An approval is of one start: none is left once that was taken back, or where a start needed none. */
export function approvalAfter(approval: Approval | null, event: MailingEvent): Approval | null {
  switch (event.type) {
    case "MailingApprovalRequested": {
      const { digest, scheduledAt, requestedBy } = event.data;
      const asked = { digest, scheduledAt, requestedBy, requestedAt: event.at };
      return { status: "requested", ...asked, decidedBy: null, decidedAt: null, reason: null };
    }
    case "MailingApproved":
      return approval && { ...approval, status: "approved", decidedBy: event.data.approvedBy, decidedAt: event.at };
    case "MailingRejected": {
      const { rejectedBy: decidedBy, reason } = event.data;
      return approval && { ...approval, status: "rejected", decidedBy, decidedAt: event.at, reason };
    }
    case "MailingStarted":
      return approval?.status === "approved" ? approval : null;
    case "MailingCreated":
    case "MailingUndone":
      return null;
    case "MailingPartsAdded":
    case "MailingPartAbandoned":
    case "MailingReleased":
    case "MailingTested":
    case "MailingPaused":
    case "MailingResumed":
    case "MailingCancelled":
    case "MailingPartsEnded":
    case "MailingReportsCounted":
    case "MailingCompleted":
    case "MailingRetried":
    case "MailingContentErased":
      return approval;
  }
}
