import type { JobError } from "../domain/job/events.ts";
import type { SendOutcome } from "../domain/recipients/events.ts";
import { countRecipients, recipientsInDoubt, recipientsToMail } from "../domain/recipients/ledger.ts";
import { type Bookkeeper, giveBackClaims } from "./bookkeeper.ts";
import { answersHoldMs, type Lease } from "./lease.ts";
import { createLeavingOut, type LeavingOut, type WhyNot } from "./leave-out.ts";
import { runPipeline } from "./pipeline.ts";
import { noOthers } from "./supply.ts";
import { type AttemptEnd, endOfAttempt, type HeldTurn, mayBeDeferred, type Tried } from "./turn.ts";

/** The outcome for one recipient, with the id by which the other side can recognise a repetition. */
export type Served = {
  readonly messageId: string;
  readonly outcome: SendOutcome;
  /** How long the recipient asked to be left alone. */
  readonly retryAfterMs?: number | null;
  /** The consequence of a failure: see Bookkeeper.outcome. */
  readonly onceRecorded?: () => Promise<void>;
};

/** A recipient that was erased before the job was run again: its address is not known any more. */
export const servedErased: Served = {
  messageId: "",
  outcome: {
    kind: "failed",
    error: { code: "recipient-erased", message: "This recipient was erased.", replyCode: null, statusCode: null },
  },
};

/** No recipient holds back the others for longer than this. */
const longestRetryAfterMs = 3_600_000;

/** How the recipients of one kind of job are served. */
export type Serving = {
  /** How many may be on their way at a time; called again each time. */
  readonly window: () => number;
  /** Counts each recipient that is being served, from before the last check until its outcome is recorded. */
  readonly using?: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /**
   * How many recipients a job that sends doubtful mails again may claim at a time, if more than `window`: an unused claim
   * does such a job no harm, and each claim costs an event.
   */
  readonly claimsAtOnce?: number;
  /** Called once for each claimed recipient. An exception breaks the turn off. */
  readonly serve: (recipient: number) => Promise<Served>;
  /** Why a recipient must not be served at all; null for one that may be. Without it, all may be. Throws Unavailable. */
  readonly whyNot?: WhyNot;
  /** Waits until the next recipient may be served; the signal ends the wait. */
  readonly before?: (hurry: AbortSignal) => Promise<unknown>;
  /** Waits after a recipient that was served, unless it was the last; the signal ends the wait. */
  readonly after?: (hurry: AbortSignal) => Promise<unknown>;
  /** Aborts when the process is to stop: sends in progress end, and nothing new begins. */
  readonly stopping: AbortSignal;
};

/** Does one attempt of a job with recipients: claims each recipient that is still to be served, and records it after. */
export async function serveRecipients(
  held: HeldTurn,
  lease: Lease,
  books: Bookkeeper,
  serving: Serving,
): Promise<AttemptEnd> {
  const leavingOut = createLeavingOut(held, books, serving.whyNot, serving.stopping);
  const toServe = await recipientsOfAttempt(held, books);
  const notSent = new Set(held.claimed);
  // The worker hears of decisions only from here on. With this answer, it has missed none.
  if (toServe.length > notSent.size) lease.confirm().catch(() => {});
  const progress = trackProgress(held, lease, books, leavingOut, { notSent, last: toServe.at(-1) }, serving);
  const { using = (work) => work() } = serving;
  const left = toServe.filter((recipient) => !notSent.has(recipient));
  const { supply } = held;
  supply?.open(left);
  const serveLeft = (claimed: readonly number[]) =>
    runPipeline({
      claimed,
      items: left,
      window: serving.window,
      claimSize: () => claimSize(held, serving),
      claim: async (group) => {
        const others = await leavingOut.sift(group);
        if (!(await lease.confirmLately())) return false;
        for (const recipient of others) notSent.add(recipient);
        supply?.claimed(group);
        if (others.length > 0) await books.claim(others);
        return true;
      },
      handle: (recipient) => using(() => progress.handle(recipient)),
      mayGoOn: () => lease.isHeld() && !serving.stopping.aborted && progress.outage() === null,
    });
  const serveAll = async () => {
    let end = await serveLeft(held.claimed);
    while (supply !== null && end.isComplete && (await supply.refill())) end = await serveLeft([]);
    return end;
  };
  const end = await serveAll()
    .finally(progress.end)
    .then(async (end) => {
      // What is known when every recipient was served is stored with the decision that ends the attempt.
      if (!end.isComplete || notSent.size > 0) await books.settled();
      return end;
    })
    .catch(async (failure: unknown) => {
      // Also after a claim that could not be stored: mails sent until then must not be left unrecorded.
      await books.settled().catch(() => {});
      // The first failure is the one to report, whether or not the claims could be taken back as well.
      await giveBackClaims(lease, books, notSent).catch(() => {});
      throw failure;
    });
  // No check here whether the lease was held to the end: the decision that ends the attempt is guarded by the lease.
  const isComplete = end.isComplete && notSent.size === 0;
  if (!isComplete && !(await giveBackClaims(lease, books, notSent))) return { kind: "lease-lost" };
  const others = (await supply?.gather(books.settled)) ?? noOthers;
  if (others.areLost) return { kind: "interrupted" };
  if (isComplete && others.haveServedAll) return endOfAttempt(held, progress);
  const outage = progress.outage();
  if (outage !== null) return { kind: "try-again", counts: countRecipients(held.ledger), error: outage };
  return { kind: "interrupted" };
}

const claimSize = ({ settings }: HeldTurn, { window, claimsAtOnce = 1 }: Serving): number =>
  Math.max(window(), settings.onUnknown === "resend" ? claimsAtOnce : 1);

/** A crash left some recipients in doubt; the settings of the job decide whether they are served again or left alone. */
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
  /** Recipients that are claimed, or about to be, and certainly not handed over. */
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
  let notBeforeMs = 0;
  const untilNext = new AbortController();
  const hurry = (): void => untilNext.abort();
  lease.onLost(hurry);
  stopping.addEventListener("abort", hurry);

  const record = async (recipient: number, served: Served): Promise<void> => {
    const { messageId, outcome, retryAfterMs, onceRecorded } = served;
    if (outcome.kind === "sent") {
      return await books.outcome({ type: "RecipientSent", recipient, messageId, response: outcome.response });
    }
    if (outcome.kind === "unavailable") {
      outage ??= outcome.error;
      notSent.add(recipient);
      return;
    }
    const { error } = outcome;
    switch (outcome.kind) {
      case "failed":
        return await books.outcome({ type: "RecipientFailed", recipient, error }, onceRecorded);
      case "unknown": {
        // Not sent again at once: a server that is slow to answer would get one copy after the other.
        const isLeftAlone = held.settings.onUnknown === "skip" || held.isLastAttempt;
        return await books.outcome({ type: isLeftAlone ? "RecipientUnknown" : "RecipientDeferred", recipient, error });
      }
      case "deferred": {
        notBeforeMs = Math.min(longestRetryAfterMs, Math.max(notBeforeMs, retryAfterMs ?? 0));
        if (mayBeDeferred(held)) return await books.outcome({ type: "RecipientDeferred", recipient, error });
        const last = { ...error, code: held.deferredUntil === null ? "attempts-exhausted" : "deferred-too-long" };
        return await books.outcome({ type: "RecipientFailed", recipient, error: last });
      }
    }
  };

  return {
    outage: () => outage,
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
        // The lease was checked last; if that took long, the first answer is out of date.
      } while (performance.now() - lookedAt > answersHoldMs);
      notSent.delete(recipient);
      await record(recipient, await serve(recipient));
      if (recipient !== last) await after?.(untilNext.signal);
    },
  };
}
