import { handleMailingCommand, type MailingOutcome } from "../commands/handle-command.ts";
import type { MailingVersion } from "../commands/read-version.ts";
import { digestOf } from "../content/encode-content.ts";
import type { ApprovalTerms, MailingCommand } from "../domain/mailing/commands.ts";
import { mailingDecider } from "../domain/mailing/decider.ts";
import type { MailingEvent } from "../domain/mailing/events.ts";
import type { CallerLimits } from "../domain/tenant.ts";
import type { JobRef } from "../event-log/event-log.ts";
import type { Refusal } from "../intake/check-request.ts";
import type { CreationDependencies, Order } from "../intake/create-job.ts";

type Ports = Pick<CreationDependencies, "log" | "room" | "quota">;

export type MailingDecided =
  | MailingOutcome
  | { readonly outcome: "refused"; readonly refusal: Extract<Refusal, { code: "event-log-full" | "quota-exceeded" }> };

/** The terms for a start that `by` asks for: the lower of the limits of the service and of the tenant counts. */
export const approvalTerms = (
  by: string,
  ofService: number | null,
  { approvalAbove: ofTenant }: Pick<CallerLimits, "approvalAbove">,
): ApprovalTerms => {
  const above = ofService === null || ofTenant === null ? (ofService ?? ofTenant) : Math.min(ofService, ofTenant);
  return { by, above, sha256: digestOf };
};

/** Decides about a mailing that was read a moment ago. What starts it needs room in the log, and quota for its recipients. */
export async function decideMailing(
  { log, room, quota }: Ports,
  mailing: JobRef,
  command: MailingCommand,
  { limits: { dailyRecipients: limit }, cause }: Pick<Order, "limits" | "cause">,
  from: MailingVersion,
): Promise<MailingDecided> {
  const decision = mailingDecider.decide(command, from.state);
  const start = decision.outcome === "accepted" ? decision.events.find(isStart) : undefined;
  if (start !== undefined) {
    if (!(await room.isLeftForJobs())) return { outcome: "refused", refusal: { code: "event-log-full" } };
    const { recipients } = start.data;
    // A mailing that was taken back and starts again is counted again: recipients may have been added.
    const job = { ...mailing, jobId: `${mailing.jobId}/${from.sequence}` };
    const answer = limit === null ? null : await quota.take({ job, recipients, perDay: limit, at: command.at });
    if (limit !== null && answer !== null && !answer.granted) {
      const { left, resetsAt } = answer;
      return { outcome: "refused", refusal: { code: "quota-exceeded", recipients, limit, left, resetsAt } };
    }
  }
  return await handleMailingCommand(log, mailing, command, cause, { from });
}

const isStart = (event: MailingEvent): event is Extract<MailingEvent, { type: "MailingStarted" }> =>
  event.type === "MailingStarted";
