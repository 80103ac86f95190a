import { setTimeout as pause } from "node:timers/promises";
import type { ContentStore } from "../../content/content-store.ts";
import type { JobSettings } from "../../domain/job/events.ts";
import { recipientsToMail } from "../../domain/recipients/ledger.ts";
import { asksForPatience } from "../../domain/throttles/asks-for-patience.ts";
import { receiverOf } from "../../domain/throttles/providers.ts";
import type { JobRef } from "../../event-log/event-log.ts";
import type { DkimSettings } from "../../mail/dkim.ts";
import type { ReturnPaths } from "../../mail/return-path.ts";
import type { JobRoutes, RoutedOutcome } from "../../mail/routes/job-routes.ts";
import { defaultRoute } from "../../mail/routes/mail-route.ts";
import type { MailRouting } from "../../mail/routes/mail-routing.ts";
import type { SuppressionGuard } from "../../suppressions/suppression-guard.ts";
import type { Bookkeeper } from "../../workers/bookkeeper.ts";
import type { HoldingBack } from "../../workers/holding-back.ts";
import { failedBecause, type JobWork, notNow } from "../../workers/job-work.ts";
import type { Lease } from "../../workers/lease.ts";
import type { WhyNot } from "../../workers/leave-out.ts";
import { serveRecipients } from "../../workers/serve-recipients.ts";
import { type Served, servedErased } from "../../workers/serving.ts";
import type { AttemptEnd, HeldTurn } from "../../workers/turn.ts";
import type { ConnectionShare } from "./connection-shares.ts";
import { createStays, holdBack, type Throttling } from "./hold-back.ts";
import { createMailGate, isPast, joinRoutes } from "./mail-gate.ts";
import { loadMailing, type Mailing, mailTo } from "./mailing.ts";
import { createSharesOfRoutes } from "./shares-of-routes.ts";
import { createSlowJobs } from "./slow-jobs.ts";
import { PartFault } from "./templates/letters.ts";

/** What mailings need to send. */
export type MailPorts = {
  readonly routing: MailRouting;
  readonly mailFrom: string;
  /** Above 0, the mails of one job go out one after the other, with this much time between two. */
  readonly batchDelayMs: number;
  /** The list of addresses that are never mailed. */
  readonly suppressions: SuppressionGuard;
  /** The address at which people outside reach the service; null where mails can have no links to it. */
  readonly publicUrl: string | null;
  /** Null where all mails have the sender of their letter as return path. */
  readonly returnPaths: ReturnPaths | null;
  /** Null where no receiver is slowed down. */
  readonly throttling: Throttling | null;
  /** See createSlowJobs. */
  readonly slowAtOnce: number;
};

/** What showing a mail needs; nothing is sent. */
export type MailSettings = Pick<MailPorts, "mailFrom" | "publicUrl" | "returnPaths"> & {
  readonly dkim: DkimSettings | null;
};

export type MailWorkDependencies = MailPorts & { readonly contentStore: ContentStore };

/** Sends mailings, and lets them wait while the routes that may carry them are away. */
export function createMailWork({ routing, ...others }: MailWorkDependencies): JobWork {
  const shares = createSharesOfRoutes(routing.connections);
  const stay = createStays(others.throttling?.stays ?? 0);
  const slowJobs = createSlowJobs(others.slowAtOnce);
  return {
    type: "email.send",
    connections: routing.connections,
    gate: (worker) => createMailGate(routing, worker),
    breaker: routing.state,
    routes: routing.states,
    // Mails that are to go out one after the other are no work for several.
    ...(others.batchDelayMs === 0 && { shares }),
    prepare: async (job, settings) => {
      if (slowJobs.hasToWait(job, settings) && !isPast(settings.notAfter)) return notNow;
      const mailing = await loadMailing({ job, settings }, others);
      if ("code" in mailing) return failedBecause(mailing);
      const routes = await joinRoutes(routing, job, settings, mailing);
      if (routes === notNow) return notNow;
      if ("code" in routes) return failedBecause(routes);
      const begin = slowJobs.enter(job, settings, routes);
      if (begin === null && !isPast(settings.notAfter)) return notNow;
      const whyNot = whyNotMail(job, mailing, others.suppressions);
      const holdingBack = holdBack(mailing, routes, others.throttling, stay);
      const connections = routes.connections();
      const ofRoutes = shares.of(routes.key(), connections);
      return {
        claims: await firstClaims(
          mailing,
          claimable(settings, others.batchDelayMs, connections, ofRoutes.free()),
          whyNot,
          holdingBack,
        ),
        work: async (held, lease, books, stopping) => {
          const end = begin?.();
          const isHelp = held.supply?.isHelp ?? false;
          const share = ofRoutes.join(isHelp ? Number.POSITIVE_INFINITY : recipientsToMail(held.ledger).length);
          const own = { ...others, mailing, whyNot, holdingBack, routes, connections, share, stopping };
          return await sendMailing(held, lease, books, own).finally(end);
        },
      };
    },
  };
}

const whyNotMail =
  ({ tenant }: JobRef, { content }: Mailing, suppressions: SuppressionGuard): WhyNot =>
  async (recipient) => {
    const one = content.recipients[recipient];
    return one ? await suppressions.reasonFor(tenant, one.email) : null;
  };

/** A recipient that must not be mailed, or has to wait, is not claimed, and found again by the attempt. */
async function firstClaims(
  { content }: Mailing,
  most: number,
  whyNot: WhyNot,
  holdingBack: HoldingBack | undefined,
): Promise<readonly number[]> {
  const hasRoom = (recipient: number): boolean =>
    holdingBack === undefined || holdingBack.waitMs(holdingBack.receiverOf(recipient)) === 0;
  const first = Array.from(content.recipients.keys()).slice(0, most).filter(hasRoom);
  const reasons = await Promise.all(first.map(whyNot));
  return first.filter((_, index) => reasons[index] === null);
}

/** What is claimed ahead of a free connection is in doubt after a crash: only a job that sends it again may do that. */
function claimable({ onUnknown }: JobSettings, batchDelayMs: number, connections: number, free: number): number {
  if (batchDelayMs > 0) return 1;
  return onUnknown === "resend" ? connections : free;
}

type MailingDependencies = Omit<MailWorkDependencies, "routing" | "contentStore"> & {
  readonly mailing: Mailing;
  readonly whyNot: WhyNot;
  readonly holdingBack: HoldingBack | undefined;
  readonly routes: JobRoutes;
  /** Of its routes. */
  readonly connections: number;
  /** The job's share of these connections, which all jobs with the same routes have in common. */
  readonly share: Pick<ConnectionShare, "window" | "using">;
  /** Aborts when the process is to stop: sends in progress end, and nothing new begins. */
  readonly stopping: AbortSignal;
};

/** Does one attempt of a mailing. */
async function sendMailing(
  held: HeldTurn,
  lease: Lease,
  books: Bookkeeper,
  dependencies: MailingDependencies,
): Promise<AttemptEnd> {
  const { batchDelayMs, connections, share, whyNot, holdingBack, stopping } = dependencies;
  return await serveRecipients(held, lease, books, {
    window: () => claimable(held.settings, batchDelayMs, connections, share.window()),
    using: share.using,
    claimsAtOnce: batchDelayMs > 0 ? 1 : connections,
    serve: (recipient, mayStill, hurry) => send(held, recipient, dependencies, { mayStill, hurry }),
    whyNot,
    ...(holdingBack !== undefined && { holdingBack }),
    after: async (hurry) => {
      if (batchDelayMs > 0) await pause(batchDelayMs, undefined, { signal: hurry }).catch(() => {});
    },
    stopping,
  });
}

type Sending = Pick<MailingDependencies, "mailing" | "routes" | "suppressions" | "throttling">;

type Waiting = {
  readonly mayStill: () => Promise<boolean>;
  readonly hurry: AbortSignal;
};

async function send(
  held: HeldTurn,
  index: number,
  { mailing, routes, suppressions, throttling }: Sending,
  { mayStill, hurry }: Waiting,
): Promise<Served | null> {
  const { content, letters, unsubscribeUrlOf, returnPathOf } = mailing;
  const recipient = content.recipients[index];
  if (recipient === null) return servedErased;
  if (recipient === undefined) throw new Error(`The content of the job has no recipient ${index}`);
  try {
    const unsubscribeUrl = unsubscribeUrlOf?.(index, recipient.email) ?? null;
    const mail = mailTo(letters, { job: held.job, index, recipient, unsubscribeUrl }, returnPathOf);
    const sent = await routes.send(mail, mayStill, hurry);
    if (sent === null) return null;
    const { outcome } = sent;
    const isThrottled = throttling !== null && hearAnswer(throttling, recipient.email, sent);
    const { messageId } = mail;
    const route = sent.route === defaultRoute ? null : sent.route;
    if (outcome.kind !== "failed") return { messageId, outcome, route, isThrottled };
    return { messageId, outcome, route, onceRecorded: () => suppressions.refused(held, mail.to, outcome.error) };
  } catch (failure) {
    if (!(failure instanceof PartFault)) throw failure;
    return templateFailed(failure);
  }
}

/** Whether the receiver asked for patience, and is slowed down. */
function hearAnswer({ of, providers }: Throttling, address: string, { route, outcome }: RoutedOutcome): boolean {
  const [receivers, receiver] = [of(route), receiverOf(address, providers)];
  receivers.heard(receiver, outcome);
  return outcome.kind === "deferred" && asksForPatience(outcome.error) && receivers.slows(receiver);
}

/** Another attempt would fail again. The message does not quote Liquid's own text, which could quote the variables. */
function templateFailed({ part, fault }: PartFault): Served {
  const where = fault.place === null ? "" : ` at line ${fault.place.line}, column ${fault.place.column}`;
  const message = `The variables of this recipient cannot fill in the ${part}${where}.`;
  const error = { code: "template-failed", message, replyCode: null, statusCode: null };
  return { messageId: "", outcome: { kind: "failed", error } };
}
