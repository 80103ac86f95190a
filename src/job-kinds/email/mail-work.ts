import { setTimeout as pause } from "node:timers/promises";
import type { ContentStore } from "../../content/content-store.ts";
import type { JobSettings } from "../../domain/job/events.ts";
import { recipientsToMail } from "../../domain/recipients/ledger.ts";
import type { JobRef } from "../../event-log/event-log.ts";
import { createBackoff } from "../../mail/backoff.ts";
import type { BrokenMailer } from "../../mail/breaker.ts";
import type { DkimSettings } from "../../mail/dkim.ts";
import type { Mailer } from "../../mail/mailer.ts";
import type { Pace } from "../../mail/pace.ts";
import type { SuppressionGuard } from "../../suppressions/suppression-guard.ts";
import type { Bookkeeper } from "../../workers/bookkeeper.ts";
import { failedBecause, type Gate, type JobWork, type WorkerView } from "../../workers/job-work.ts";
import type { Lease } from "../../workers/lease.ts";
import type { WhyNot } from "../../workers/leave-out.ts";
import { type Served, servedErased, serveRecipients } from "../../workers/serve-recipients.ts";
import type { AttemptEnd, HeldTurn } from "../../workers/turn.ts";
import { type ConnectionShare, createConnectionShares } from "./connection-shares.ts";
import { loadMailing, type Mailing, mailTo } from "./mailing.ts";
import { PartFault } from "./templates/letters.ts";

/**
 * While the mail server is away and fewer turns than this wait, they are tried by their schedule, one after the other,
 * with mails that the breaker counts: so a lone job comes to an end that its owner hears of. More turns wait untouched.
 */
const mostWaitingToTry = 5;

/** What mailings need to send. */
export type MailPorts = {
  readonly mailer: BrokenMailer;
  /** Keeps to the rate that the mail server allows. */
  readonly pace: Pace;
  readonly mailFrom: string;
  /** Above 0, the mails of one job go out one after the other, with this much time between two. */
  readonly batchDelayMs: number;
  /** The list of addresses that are never mailed. */
  readonly suppressions: SuppressionGuard;
  /** The address at which people outside reach the service; null where mails can have no links to it. */
  readonly publicUrl: string | null;
};

/** What showing a mail needs; nothing is sent. */
export type MailSettings = Pick<MailPorts, "mailFrom" | "publicUrl"> & { readonly dkim: DkimSettings | null };

export type MailWorkDependencies = MailPorts & { readonly contentStore: ContentStore };

/** Sends mailings, and lets them wait while the mail server is away. */
export function createMailWork({ mailer, ...others }: MailWorkDependencies): JobWork {
  let changed: () => void = () => {};
  const shares = createConnectionShares(mailer.connections);
  const backoff = createBackoff(mailer, () => changed());
  mailer.onChange(() => changed());

  const createGate = (worker: WorkerView): Gate => {
    changed = worker.lookForWork;
    return {
      start: backoff.start,
      stop: backoff.stop,
      mayTake: async () => {
        if (mailer.state() !== "closed") return "mail-server-away";
        switch (backoff.standing()) {
          case "unknown":
            return "mail-server-away";
          case "away":
            if (worker.busy() > 0) return 0;
            return (await worker.waiting()) < mostWaitingToTry ? 1 : "mail-server-away";
          case "lets-in":
            return worker.busy() === 0 ? 1 : 0;
          case "answers":
            return Number.POSITIVE_INFINITY;
        }
      },
    };
  };

  return {
    type: "email.send",
    connections: mailer.connections,
    gate: createGate,
    breaker: mailer.state,
    // Mails that are to go out one after the other are no work for several.
    ...(others.batchDelayMs === 0 && { shares }),
    prepare: async (job, settings) => {
      const mailing = await loadMailing({ job, settings }, others);
      if ("code" in mailing) return failedBecause(mailing);
      const whyNot = whyNotMail(job, mailing, others.suppressions);
      return {
        claims: await firstClaims(
          mailing,
          claimable(settings, others.batchDelayMs, mailer.connections, shares.free()),
          whyNot,
        ),
        work: (held, lease, books, stopping) => {
          const isHelp = held.supply?.isHelp ?? false;
          const share = shares.join(isHelp ? Number.POSITIVE_INFINITY : recipientsToMail(held.ledger).length);
          return sendMailing(held, lease, books, {
            ...others,
            mailing,
            whyNot,
            mailer: backoff.mailer,
            share,
            stopping,
          });
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

/** A recipient that must not be mailed is not claimed, and found again by the attempt. */
async function firstClaims({ content }: Mailing, most: number, whyNot: WhyNot): Promise<readonly number[]> {
  const first = Array.from(content.recipients.keys()).slice(0, most);
  const reasons = await Promise.all(first.map(whyNot));
  return first.filter((_, index) => reasons[index] === null);
}

/** What is claimed ahead of a free connection is in doubt after a crash: only a job that sends it again may do that. */
function claimable({ onUnknown }: JobSettings, batchDelayMs: number, connections: number, free: number): number {
  if (batchDelayMs > 0) return 1;
  return onUnknown === "resend" ? connections : free;
}

type MailingDependencies = Omit<MailWorkDependencies, "mailer" | "contentStore"> & {
  readonly mailing: Mailing;
  readonly whyNot: WhyNot;
  readonly mailer: Mailer;
  /** The job's share of the connections to the mail server, which all jobs have in common. */
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
  const { batchDelayMs, share, whyNot, pace, stopping } = dependencies;
  const { connections } = dependencies.mailer;
  return await serveRecipients(held, lease, books, {
    window: () => claimable(held.settings, batchDelayMs, connections, share.window()),
    using: share.using,
    claimsAtOnce: batchDelayMs > 0 ? 1 : connections,
    serve: (recipient) => send(held, recipient, dependencies),
    whyNot,
    before: pace,
    after: async (hurry) => {
      if (batchDelayMs > 0) await pause(batchDelayMs, undefined, { signal: hurry }).catch(() => {});
    },
    stopping,
  });
}

async function send(
  held: HeldTurn,
  index: number,
  { mailing, mailer, suppressions }: Pick<MailingDependencies, "mailing" | "mailer" | "suppressions">,
): Promise<Served> {
  const { content, letters, unsubscribeUrlOf } = mailing;
  const recipient = content.recipients[index];
  if (recipient === null) return servedErased;
  if (recipient === undefined) throw new Error(`The content of the job has no recipient ${index}`);
  try {
    const unsubscribeUrl = unsubscribeUrlOf?.(index, recipient.email) ?? null;
    const mail = mailTo(letters, { job: held.job, index, recipient, unsubscribeUrl });
    const outcome = await mailer.send(mail);
    const { messageId } = mail;
    if (outcome.kind !== "failed") return { messageId, outcome };
    return { messageId, outcome, onceRecorded: () => suppressions.refused(held, mail.to, outcome.error) };
  } catch (failure) {
    if (!(failure instanceof PartFault)) throw failure;
    return templateFailed(failure);
  }
}

/** Another attempt would fail again. The message does not quote Liquid's own text, which could quote the variables. */
function templateFailed({ part, fault }: PartFault): Served {
  const where = fault.place === null ? "" : ` at line ${fault.place.line}, column ${fault.place.column}`;
  const message = `The variables of this recipient cannot fill in the ${part}${where}.`;
  const error = { code: "template-failed", message, replyCode: null, statusCode: null };
  return { messageId: "", outcome: { kind: "failed", error } };
}
