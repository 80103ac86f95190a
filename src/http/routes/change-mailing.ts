import type { Caller } from "../../access/access.ts";
import type { Scope } from "../../access/key-ring.ts";
import { readMailing } from "../../commands/read-version.ts";
import type { MailingCommand } from "../../domain/mailing/commands.ts";
import { mailingAfter } from "../../domain/mailing/mailing-record.ts";
import type { Instant } from "../../domain/message.ts";
import { mailingFromLog } from "../../history/mailing-from-log.ts";
import { approvalTerms, decideMailing } from "../../mailings/decide-mailing.ts";
import type { Checked } from "../../schemas/fault.ts";
import {
  changeRequest,
  ignoreRequest,
  readChangeRequest,
  readIgnoreRequest,
  readRetryRequest,
  retryRequest,
} from "../../schemas/job-action-request.ts";
import {
  approvalRequest,
  readApprovalRequest,
  readStartRequest,
  startRequest,
} from "../../schemas/mailing-action-request.ts";
import { mailing as mailingSchema, toMailingAnswer } from "../answers/mailing.ts";
import { type Answer, json, mailingNotFound, refuseFaults, refuseMailing } from "../server/answer.ts";
import { toCause, toJobRef } from "../server/request-context.ts";
import { type ApiRequest, type Describes, needed, optional, type Route, route } from "../server/route.ts";
import { askReadModel } from "./ask-read-model.ts";
import { refuseCreation } from "./create-job.ts";
import type { RouteDependencies } from "./route-dependencies.ts";
import { refuseTooManyOpen } from "./too-many-open.ts";

/** A decision does not wait for a database that is frozen. */
const patienceMs = 300;

const changed = { 200: { is: "The mailing as it is now.", json: mailingSchema, headers: ["Event-Sequence"] } } as const;

type Change<Asked> = Pick<Describes, "operation" | "summary" | "body" | "problems"> & {
  readonly action: string;
  readonly read: (body: unknown) => Checked<Asked>;
  readonly scope?: Scope;
  readonly toCommand: (asked: Asked, at: Instant, caller: Caller) => MailingCommand;
};

const readReason = (body: unknown) => readChangeRequest(body ?? {});

/** The decisions that people make about a mailing as a whole. */
export function changeMailingRoutes(dependencies: RouteDependencies): readonly Route[] {
  const changing = <Asked>({ action, scope = "jobs:write", read, toCommand, ...described }: Change<Asked>): Route =>
    route({
      method: "POST",
      path: `/mailings/:mailingId/${action}`,
      describes: { ...described, answers: changed, needs: ["log-writes"] },
      takesBody: true,
      scope,
      handle: (request) => {
        const asked = read(request.body);
        if (!asked.valid) return Promise.resolve(refuseFaults(asked.faults));
        return change(dependencies, request, toCommand(asked.value, dependencies.now(), request.context));
      },
    });
  return [
    changing({
      action: "start",
      operation: "startMailing",
      summary: "Start a mailing, now or at a time, or ask for its approval; no recipients are added from here on.",
      body: optional(startRequest),
      problems: [
        "mailing-not-found",
        "mailing-is-empty",
        "mailing-has-started",
        "mailing-awaits-approval",
        "approval-needs-keys",
        "mailing-has-ended",
        "scheduled-too-late",
        "too-many-open-mailings",
        "quota-exceeded",
      ],
      read: readStartRequest,
      toCommand: ({ scheduledAt }, at, { actor, limits }) => {
        const terms = approvalTerms(actor, dependencies.approvalAbove, limits);
        return { type: "StartMailing", at, scheduledAt, terms };
      },
    }),
    changing({
      action: "approve",
      operation: "approveMailing",
      summary:
        "Approve what a key has asked to start, with another key; `digest` is that of its `approval`. It starts.",
      body: needed(approvalRequest),
      scope: "jobs:approve",
      problems: [
        "mailing-not-found",
        "mailing-not-awaiting-approval",
        "approval-needs-another-key",
        "approval-needs-keys",
        "approval-digest-differs",
        "scheduled-too-late",
        "too-many-open-mailings",
        "quota-exceeded",
      ],
      read: readApprovalRequest,
      toCommand: ({ digest }, at, { actor }) => ({ type: "ApproveMailing", at, by: actor, digest }),
    }),
    changing({
      action: "reject",
      operation: "rejectMailing",
      summary: "Reject what a key has asked to start, with another key: the mailing is a draft again, with the reason.",
      body: needed(ignoreRequest),
      scope: "jobs:approve",
      problems: [
        "mailing-not-found",
        "mailing-not-awaiting-approval",
        "approval-needs-another-key",
        "approval-needs-keys",
      ],
      read: readIgnoreRequest,
      toCommand: ({ reason }, at, { actor }) => ({ type: "RejectMailing", at, by: actor, reason }),
    }),
    changing({
      action: "undo",
      operation: "undoMailing",
      summary:
        "Take a start back, within the time that `undoFor` gave: the mailing is a draft again, and no mail has left.",
      body: optional(changeRequest),
      problems: [
        "mailing-not-found",
        "mailing-not-started",
        "mailing-awaits-approval",
        "mailing-has-ended",
        "undo-time-over",
      ],
      read: readReason,
      toCommand: ({ reason = null }, at) => ({ type: "UndoMailing", at, reason }),
    }),
    changing({
      action: "pause",
      operation: "pauseMailing",
      summary: "Pause a mailing, with all of its parts.",
      body: optional(changeRequest),
      problems: ["mailing-not-found", "mailing-not-started", "mailing-awaits-approval", "mailing-has-ended"],
      read: readReason,
      toCommand: ({ reason = null }, at) => ({ type: "PauseMailing", at, reason }),
    }),
    changing({
      action: "resume",
      operation: "resumeMailing",
      summary: "Resume a paused mailing.",
      body: optional(changeRequest),
      problems: ["mailing-not-found", "mailing-not-paused"],
      read: readReason,
      toCommand: ({ reason = null }, at) => ({ type: "ResumeMailing", at, reason }),
    }),
    changing({
      action: "retry",
      operation: "retryMailing",
      summary: "Run the failed parts of a mailing that has ended again; recipients already sent are not mailed again.",
      body: optional(retryRequest),
      problems: ["mailing-not-found", "mailing-has-not-ended", "mailing-has-not-failed", "too-many-open-mailings"],
      read: (body) => readRetryRequest(body ?? {}),
      toCommand: ({ scope = "failed", reason = null }, at) => ({ type: "RetryMailing", at, scope, reason }),
    }),
    changing({
      action: "cancel",
      operation: "cancelMailing",
      summary: "Cancel a mailing that has not ended; the recipients of parts that are no jobs yet are erased.",
      body: optional(changeRequest),
      problems: ["mailing-not-found", "mailing-has-ended"],
      read: readReason,
      toCommand: ({ reason = null }, at) => ({ type: "CancelMailing", at, reason }),
    }),
  ];
}

/**
 * The answer includes the decision, with or without a read model: the counts alone are those of the read model, as the
 * histories of all open parts are too long to be read by the way.
 */
async function change(
  dependencies: RouteDependencies,
  { context, base, part, inTime }: ApiRequest,
  command: MailingCommand,
): Promise<Answer> {
  const mailing = toJobRef(context, part("mailingId"));
  if (mailing === null) return mailingNotFound();
  const ports = inTime(dependencies);
  const { log, contentStore } = ports;
  const order = { limits: context.limits, cause: toCause(context) };
  const from = await readMailing(log, mailing);
  const full = await refuseTooManyOpen(dependencies, context.tenant, command, from.state, patienceMs);
  if (full !== null) return full;
  const outcome = await decideMailing(ports, mailing, command, order, from);
  if (outcome.outcome === "refused") return refuseCreation(outcome.refusal, command.at);
  if (outcome.outcome === "rejected") return refuseMailing(outcome.rejection);
  const { sequence } = outcome;
  dependencies.ownWrites.remember(mailing, sequence);
  const found = await askReadModel(() => dependencies.mailings.find(mailing), patienceMs).catch(() => null);
  const record =
    found !== null && found.mailing !== null && outcome.state.status !== "absent"
      ? mailingAfter(found.mailing, outcome.state)
      : (await mailingFromLog(log, contentStore, mailing))?.mailing;
  if (record === undefined) return mailingNotFound();
  return json(toMailingAnswer(record, base), { "Event-Sequence": String(sequence) });
}
