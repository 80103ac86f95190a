import type { Instant } from "../domain/message.ts";
import type { Cause } from "../event-log/event-log.ts";
import { maskReply } from "../mail/mask-reply.ts";
import type { FeedbackIntake } from "./intake.ts";
import type { RawReport } from "./raw-report.ts";
import type { MailRef, NewFeedback } from "./record-feedback.ts";
import type { NoReport, Reading, Report } from "./reports/report.ts";
import type { UnattributedReports } from "./unattributed.ts";

/** What became of a report. `mail` is the one that it is about. */
export type Taken =
  | { readonly result: "recorded" | "known"; readonly mail: MailRef; readonly report: Report }
  /** It names no mail of the tenant, or of this service. */
  | { readonly result: "unattributed"; readonly report: Report }
  | { readonly result: "nothing"; readonly why: NoReport };

type Ports = {
  readonly intake: FeedbackIntake;
  readonly unattributed: UnattributedReports;
  readonly now: () => Instant;
};

/** Where a report came from: what was received, and for which tenant; null for the mail listener, which serves all. */
export type Received = {
  readonly raw: Pick<RawReport, "bytes" | "sha256">;
  readonly tenant: string | null;
  readonly cause: Cause;
};

export type TakeReport = (reading: Reading, received: Received) => Promise<Taken>;

/**
 * Records what a report says about a mail, once. A report that names no mail is kept for a person to see, if it came by mail.
 * A tenant reports about its own mails alone. Throws Unavailable: the sender is then to be told to try again.
 */
export const createTakeReport =
  ({ intake, unattributed, now }: Ports): TakeReport =>
  async (reading, { raw, tenant, cause }) => {
    if (reading.kind === "nothing") return { result: "nothing", why: reading.why };
    const { report } = reading;
    const mail = await intake.attribute(report.names);
    const isTheirs = mail !== null && (tenant === null || mail.tenant === tenant);
    const at = now();
    if (isTheirs) {
      const result = await intake.record(mail, toFeedback(report, raw.sha256), cause, at);
      if (result !== "no-such-mail") return { result, mail, report };
    }
    if (tenant === null) await unattributed.keep(raw.sha256, toUnattributed(report, at, raw.bytes));
    return { result: "unattributed", report };
  };

function toFeedback({ source, feedback }: Report, reportSha256: string): NewFeedback {
  if (feedback.kind === "complaint") {
    return { type: "RecipientComplained", data: { source, reportSha256, complaint: feedback.complaint } };
  }
  const { kind: _, ...bounce } = feedback;
  return { type: "RecipientBounced", data: { source, reportSha256, ...bounce } };
}

/** The owner of the address is not known, so it is masked. */
function toUnattributed({ source, feedback }: Report, receivedAt: Instant, bytes: number) {
  const isComplaint = feedback.kind === "complaint";
  return {
    receivedAt,
    source,
    feedback: isComplaint ? "complaint" : `${feedback.bounce}-bounce`,
    diagnostic: isComplaint ? feedback.complaint : maskReply(feedback.diagnostic, { to: "", subject: "" }),
    bytes,
  };
}
