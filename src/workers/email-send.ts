import { setTimeout as pause } from "node:timers/promises";
import type { ContentStore } from "../content/content-store.ts";
import type { JobError } from "../domain/job/events.ts";
import {
  countRecipients,
  hasTooManyFailures,
  recipientsInDoubt,
  recipientsToMail,
} from "../domain/recipients/ledger.ts";
import type { Mailer, SendOutcome } from "../mail/mailer.ts";
import type { Pace } from "../mail/pace.ts";
import { PartFault } from "../templates/letters.ts";
import type { Bookkeeper } from "./bookkeeper.ts";
import { composeMail, templateFailed } from "./compose-mail.ts";
import type { Lease } from "./lease.ts";
import { loadMailing, type Mailing } from "./load-mailing.ts";
import { runPipeline } from "./pipeline.ts";
import type { AttemptEnd, HeldTurn } from "./turn.ts";

export type MailingDependencies = {
  readonly contentStore: ContentStore;
  readonly mailer: Mailer;
  /** Keeps to the rate that the mail server allows. */
  readonly pace: Pace;
  readonly mailFrom: string;
  /** Above 0 the mails of one job go one after the other, with this much time between two. */
  readonly batchDelayMs: number;
  /** How many connections to the mail server this job may use now. */
  readonly connections: () => number;
  /** Aborts when the process is to stop: what is on its way ends, nothing new begins. */
  readonly stopping: AbortSignal;
};

/** One attempt of a mailing: everybody who is still to be mailed, claimed before and recorded after. */
export async function sendMailing(
  held: HeldTurn,
  lease: Lease,
  books: Bookkeeper,
  dependencies: MailingDependencies,
): Promise<AttemptEnd> {
  const { contentStore, mailFrom } = dependencies;
  const [mailing, isStillHeld] = await Promise.all([loadMailing(held, contentStore, mailFrom), lease.confirm()]);
  if (!isStillHeld) return { kind: "lease-lost" };
  if ("code" in mailing) return { kind: "failed", counts: countRecipients(held.ledger), error: mailing };
  const toMail = await recipientsOfAttempt(held, books);
  const sending = createSending(held, lease, books, mailing, toMail.at(-1), dependencies);
  const end = await runPipeline({
    items: toMail,
    window: () => (dependencies.batchDelayMs > 0 ? 1 : dependencies.connections()),
    claim: async (group) => {
      if (!(await lease.confirmLately())) return false;
      await books.claim(group);
      return true;
    },
    handle: sending.handle,
    mayGoOn: () => lease.isHeld() && !dependencies.stopping.aborted && sending.outage() === null,
  })
    .finally(sending.end)
    // Also where a claim could not be stored: what was sent until then must not be left behind unrecorded.
    .finally(books.settled);
  const unsent = [...end.unhandled, ...sending.notSent];
  // Whether the lease was held to the end is found out by what ends the attempt, which is guarded by it.
  if (end.isComplete && unsent.length === 0) return endOfAttempt(held, sending.isExhausted());
  // Whoever decided about the job meanwhile may have handed it to another worker, whose claims these now are. From a
  // pause until it is resumed there is no other worker, and a claim left behind would count as a mail in doubt.
  const isHeld = await lease.confirm();
  if (isHeld || (unsent.length > 0 && (await lease.wasOnlyPaused()))) await books.release(unsent);
  if (!isHeld) return { kind: "lease-lost" };
  const outage = sending.outage();
  if (outage !== null) return { kind: "try-again", counts: countRecipients(held.ledger), error: outage };
  return { kind: "interrupted" };
}

/** A crash left some in doubt; the job says whether they are mailed again or left alone. */
async function recipientsOfAttempt({ ledger, settings }: HeldTurn, books: Bookkeeper): Promise<number[]> {
  const inDoubt = recipientsInDoubt(ledger);
  if (settings.onUnknown === "resend") {
    return [...recipientsToMail(ledger), ...inDoubt].sort((one, other) => one - other);
  }
  const message = "The worker died while this mail was on its way; nobody can know whether it was taken.";
  const error = { code: "outcome-unknown", message, replyCode: null, statusCode: null };
  for (const recipient of inDoubt) await books.outcome({ type: "RecipientUnknown", recipient, error });
  return recipientsToMail(ledger);
}

type Sending = {
  readonly handle: (recipient: number) => Promise<void>;
  /** Why no mail can be sent to anybody, once that is known. */
  readonly outage: () => JobError | null;
  /** Claimed, and surely not handed to the mail server. */
  readonly notSent: readonly number[];
  /** Whether somebody was deferred for the last time. */
  readonly isExhausted: () => boolean;
  readonly end: () => void;
};

function createSending(
  held: HeldTurn,
  lease: Lease,
  books: Bookkeeper,
  mailing: Mailing,
  lastRecipient: number | undefined,
  { mailer, pace, batchDelayMs, stopping }: MailingDependencies,
): Sending {
  const notSent: number[] = [];
  let outage: JobError | null = null;
  let isExhausted = false;
  const untilNextMail = new AbortController();
  const hurry = (): void => untilNextMail.abort();
  lease.onLost(hurry);
  stopping.addEventListener("abort", hurry);

  const record = async (recipient: number, messageId: string, outcome: SendOutcome): Promise<void> => {
    switch (outcome.kind) {
      case "sent":
        return await books.outcome({ type: "RecipientSent", recipient, messageId, response: outcome.response });
      case "failed":
        return await books.outcome({ type: "RecipientFailed", recipient, error: outcome.error });
      case "unknown":
        // Not sent again at once: a server that is slow to answer would get one copy after the other.
        if (held.settings.onUnknown === "skip" || held.isLastAttempt) {
          return await books.outcome({ type: "RecipientUnknown", recipient, error: outcome.error });
        }
        return await books.outcome({ type: "RecipientDeferred", recipient, error: outcome.error });
      case "deferred":
        if (!held.isLastAttempt)
          return await books.outcome({ type: "RecipientDeferred", recipient, error: outcome.error });
        isExhausted = true;
        return await books.outcome({
          type: "RecipientFailed",
          recipient,
          error: { ...outcome.error, code: "attempts-exhausted" },
        });
      case "unavailable":
        outage ??= outcome.error;
        notSent.push(recipient);
    }
  };

  const send = async (recipient: number): Promise<void> => {
    try {
      const mail = composeMail(held, mailing, recipient);
      await record(recipient, mail.messageId, await mailer.send(mail));
    } catch (failure) {
      if (!(failure instanceof PartFault)) throw failure;
      await record(recipient, "", templateFailed(failure));
    }
  };

  return {
    notSent,
    outage: () => outage,
    isExhausted: () => isExhausted,
    end: () => stopping.removeEventListener("abort", hurry),
    handle: async (recipient) => {
      await pace(untilNextMail.signal);
      if (stopping.aborted || !(await lease.confirmLately())) {
        notSent.push(recipient);
        return;
      }
      await send(recipient);
      const isDelayed = batchDelayMs > 0 && recipient !== lastRecipient;
      if (isDelayed) await pause(batchDelayMs, undefined, { signal: untilNextMail.signal }).catch(() => {});
    },
  };
}

/** Everybody who was to be mailed has been tried. */
function endOfAttempt({ ledger }: HeldTurn, isExhausted: boolean): AttemptEnd {
  const counts = countRecipients(ledger);
  if (counts.deferred > 0) {
    const message = `${counts.deferred} of ${counts.total} recipients are to be tried again.`;
    return { kind: "try-again", counts, error: { code: "recipients-deferred", message } };
  }
  if (isExhausted) {
    const message = "Some recipients were deferred on every attempt, the last one included.";
    return { kind: "failed", counts, error: { code: "attempts-exhausted", message } };
  }
  if (hasTooManyFailures(counts)) {
    const message = `${counts.failed} of ${counts.total} recipients failed, more than half.`;
    return { kind: "failed", counts, error: { code: "too-many-failures", message } };
  }
  return { kind: "completed", counts };
}
