import { handleMailingCommand, type MailingOutcome } from "../commands/handle-command.ts";
import { type MailingVersion, mailings, readNews } from "../commands/read-version.ts";
import { digestOf } from "../content/encode-content.ts";
import type { ApprovalTerms, MailingCommand } from "../domain/mailing/commands.ts";
import { mailingDecider } from "../domain/mailing/decider.ts";
import type { MailingEvent } from "../domain/mailing/events.ts";
import type { CallerLimits } from "../domain/tenant.ts";
import type { JobRef } from "../event-log/event-log.ts";
import { VersionConflict } from "../event-log/log-failures.ts";
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

/** More writers than this at the mailing at one moment are a defect, not a race. */
const maxConflicts = 20;

/**
 * Decides about a mailing that was read a moment ago. What starts it needs room in the log, and quota for its recipients:
 * also for those that an import added meanwhile.
 */
export async function decideMailing(
  ports: Ports,
  mailing: JobRef,
  command: MailingCommand,
  { limits, cause }: Pick<Order, "limits" | "cause">,
  from: MailingVersion,
): Promise<MailingDecided> {
  let version = from;
  let counted = 0;
  for (let conflicts = 0; ; conflicts += 1) {
    const decision = mailingDecider.decide(command, version.state);
    const start = decision.outcome === "accepted" ? decision.events.find(isStart) : undefined;
    if (start !== undefined) {
      const { recipients } = start.data;
      // A mailing that was taken back and starts again is counted again: recipients may have been added.
      const job = { ...mailing, jobId: `${mailing.jobId}/${version.sequence}` };
      const more = { job, recipients: Math.max(0, recipients - counted), at: command.at };
      const refusal = await refuseStart(ports, more, limits.dailyRecipients);
      if (refusal !== null) return { outcome: "refused", refusal };
      counted = Math.max(counted, recipients);
    }
    try {
      return await handleMailingCommand(ports.log, mailing, command, cause, { from: version, maxConflicts: 0 });
    } catch (failure) {
      if (!(failure instanceof VersionConflict) || conflicts === maxConflicts) throw failure;
      version = await readNews(mailings, ports.log, mailing, version);
    }
  }
}

type RefusedStart = Extract<MailingDecided, { outcome: "refused" }>["refusal"];

async function refuseStart(
  { room, quota }: Ports,
  asked: Omit<Parameters<Ports["quota"]["take"]>[0], "perDay">,
  limit: number | null,
): Promise<RefusedStart | null> {
  if (!(await room.isLeftForJobs())) return { code: "event-log-full" };
  if (limit === null || asked.recipients === 0) return null;
  const answer = await quota.take({ ...asked, perDay: limit });
  if (answer.granted) return null;
  const { left, resetsAt } = answer;
  return { code: "quota-exceeded", recipients: asked.recipients, limit, left, resetsAt };
}

const isStart = (event: MailingEvent): event is Extract<MailingEvent, { type: "MailingStarted" }> =>
  event.type === "MailingStarted";
