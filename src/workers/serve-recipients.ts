import type { JobError } from "../domain/job/events.ts";
import type { SendOutcome } from "../domain/recipients/events.ts";
import { countRecipients, recipientsInDoubt, recipientsToMail } from "../domain/recipients/ledger.ts";
import { type Bookkeeper, giveBackClaims } from "./bookkeeper.ts";
import type { Lease } from "./lease.ts";
import { createLeavingOut, type LeavingOut, type WhyNot } from "./leave-out.ts";
import { runPipeline } from "./pipeline.ts";
import { type AttemptEnd, endOfAttempt, type HeldTurn, type Tried } from "./turn.ts";

/** What became of one recipient, under the id by which the other side can recognise a repetition. */
export type Served = {
  readonly messageId: string;
  readonly outcome: SendOutcome;
  /** The recipient asked to be left alone for so long. */
  readonly retryAfterMs?: number | null;
  /** What follows from a failure: see Bookkeeper.outcome. */
  readonly onceRecorded?: () => Promise<void>;
};

/** Of a recipient that was erased before the job was run again: whom to serve is not known any more. */
export const servedErased: Served = {
  messageId: "",
  outcome: {
    kind: "failed",
    error: { code: "recipient-erased", message: "This recipient was erased.", replyCode: null, statusCode: null },
  },
};

/** No recipient holds back the others for longer than this. */
const longestRetryAfterMs = 3_600_000;

/** What is known of a recipient, and of the lease, holds for so long: a process can be stopped between any two steps. */
const answersHoldMs = 1000;

/** How the recipients of one kind of job are served. */
export type Serving = {
  /** How many may be on their way at a time; asked anew each time. */
  readonly window: () => number;
  /** Told of each that is on its way, from before it is looked at once more until it is recorded. */
  readonly using?: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /**
   * How many a job may claim at a time that is to send again what was in doubt, if more than `window`: a claim that
   * comes to nothing does it no harm, and each costs an event.
   */
  readonly claimsAtOnce?: number;
  /** Called for a recipient that is claimed, and once for each. What it throws breaks the turn off. */
  readonly serve: (recipient: number) => Promise<Served>;
  /** Why a recipient is not to be served at all; null for one that is. Without it, all are. Throws Unavailable. */
  readonly whyNot?: WhyNot;
  /** Waits until the next one may be served; the signal ends the waiting. */
  readonly before?: (hurry: AbortSignal) => Promise<unknown>;
  /** Waits after one that was served, unless it was the last; the signal ends the waiting. */
  readonly after?: (hurry: AbortSignal) => Promise<unknown>;
  /** Aborts when the process is to stop: what is on its way ends, nothing new begins. */
  readonly stopping: AbortSignal;
};

/** One attempt of a job with recipients: each one that is still to be served is claimed before and recorded after. */
export async function serveRecipients(
  held: HeldTurn,
  lease: Lease,
  books: Bookkeeper,
  serving: Serving,
): Promise<AttemptEnd> {
  const leavingOut = createLeavingOut(books, serving.whyNot, recipientsInDoubt(held.ledger), serving.stopping);
  const toServe = await recipientsOfAttempt(held, books);
  const notSent = new Set<number>();
  const progress = trackProgress(held, lease, books, leavingOut, { notSent, last: toServe.at(-1) }, serving);
  const { using = (work) => work() } = serving;
  const end = await runPipeline({
    items: toServe,
    window: serving.window,
    claimSize: () => claimSize(held, serving),
    claim: async (group) => {
      const others = await leavingOut.sift(group);
      if (!(await lease.confirmLately())) return false;
      for (const recipient of others) notSent.add(recipient);
      if (others.length > 0) await books.claim(others);
      return true;
    },
    handle: (recipient) => using(() => progress.handle(recipient)),
    mayGoOn: () => lease.isHeld() && !serving.stopping.aborted && progress.outage() === null,
  })
    .finally(progress.end)
    // Also where a claim could not be stored: what was sent until then must not be left behind unrecorded.
    .finally(books.settled)
    .catch(async (failure: unknown) => {
      // What broke the turn off is what it was broken off by, whether or not the claims could be taken back as well.
      await giveBackClaims(lease, books, notSent).catch(() => {});
      throw failure;
    });
  // Whether the lease was held to the end is found out by what ends the attempt, which is guarded by it.
  if (end.isComplete && notSent.size === 0) return endOfAttempt(held, progress);
  if (!(await giveBackClaims(lease, books, notSent))) return { kind: "lease-lost" };
  const outage = progress.outage();
  if (outage !== null) return { kind: "try-again", counts: countRecipients(held.ledger), error: outage };
  return { kind: "interrupted" };
}

const claimSize = ({ settings }: HeldTurn, { window, claimsAtOnce = 1 }: Serving): number =>
  Math.max(window(), settings.onUnknown === "resend" ? claimsAtOnce : 1);

/** A crash left some in doubt; the job says whether they are served again or left alone. */
async function recipientsOfAttempt({ ledger, settings }: HeldTurn, books: Bookkeeper): Promise<number[]> {
  const inDoubt = recipientsInDoubt(ledger);
  if (settings.onUnknown === "resend") {
    return [...recipientsToMail(ledger), ...inDoubt].sort((one, other) => one - other);
  }
  const message = "The worker died while this was on its way; nobody can know whether it was taken.";
  const error = { code: "outcome-unknown", message, replyCode: null, statusCode: null };
  for (const recipient of inDoubt) await books.outcome({ type: "RecipientUnknown", recipient, error });
  return recipientsToMail(ledger);
}

type Recipients = {
  /** Claimed, or about to be, and surely not handed over. */
  readonly notSent: Set<number>;
  readonly last: number | undefined;
};

type Progress = Tried & {
  readonly handle: (recipient: number) => Promise<void>;
  /** Why no recipient at all can be served, once that is known. */
  readonly outage: () => JobError | null;
  readonly end: () => void;
};

function trackProgress(
  held: HeldTurn,
  lease: Lease,
  books: Bookkeeper,
  leavingOut: LeavingOut,
  { notSent, last }: Recipients,
  { serve, before, after, stopping }: Serving,
): Progress {
  let outage: JobError | null = null;
  let isExhausted = false;
  let notBeforeMs = 0;
  const untilNext = new AbortController();
  const hurry = (): void => untilNext.abort();
  lease.onLost(hurry);
  stopping.addEventListener("abort", hurry);

  const record = async (recipient: number, served: Served): Promise<void> => {
    const { messageId, outcome, retryAfterMs, onceRecorded } = served;
    switch (outcome.kind) {
      case "sent":
        return await books.outcome({ type: "RecipientSent", recipient, messageId, response: outcome.response });
      case "failed":
        return await books.outcome({ type: "RecipientFailed", recipient, error: outcome.error }, onceRecorded);
      case "unknown":
        // Not sent again at once: a server that is slow to answer would get one copy after the other.
        if (held.settings.onUnknown === "skip" || held.isLastAttempt) {
          return await books.outcome({ type: "RecipientUnknown", recipient, error: outcome.error });
        }
        return await books.outcome({ type: "RecipientDeferred", recipient, error: outcome.error });
      case "deferred":
        notBeforeMs = Math.min(longestRetryAfterMs, Math.max(notBeforeMs, retryAfterMs ?? 0));
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
        notSent.add(recipient);
    }
  };

  return {
    outage: () => outage,
    isExhausted: () => isExhausted,
    notBeforeMs: () => notBeforeMs,
    end: () => stopping.removeEventListener("abort", hurry),
    handle: async (recipient) => {
      if (leavingOut.isLeftOut(recipient)) return;
      await before?.(untilNext.signal);
      let lookedAt: number;
      do {
        lookedAt = performance.now();
        if (!stopping.aborted && (await leavingOut.sift([recipient])).length === 0) {
          notSent.delete(recipient);
          return;
        }
        if (stopping.aborted || !(await lease.confirmLately())) return;
        // The lease was asked for last; if that took its time, the first answer is of the past.
      } while (performance.now() - lookedAt > answersHoldMs);
      notSent.delete(recipient);
      await record(recipient, await serve(recipient));
      if (recipient !== last) await after?.(untilNext.signal);
    },
  };
}
