import { type DeliveryError, isAnswer } from "../domain/recipients/events.ts";
import { timesInDoubt } from "../domain/recipients/ledger.ts";
import type { Bookkeeper } from "./bookkeeper.ts";
import { answersHoldMs, type Lease } from "./lease.ts";
import type { LeavingOut } from "./leave-out.ts";
import { type Outage, watchOutage } from "./outage.ts";
import { mayBeDeferred, mayBePutOff } from "./patience.ts";
import type { Aside } from "./put-aside.ts";
import type { Served, Serving } from "./serving.ts";
import type { HeldTurn, Tried } from "./turn.ts";

/** No recipient holds back the others for longer than this. */
const longestRetryAfterMs = 3_600_000;

type Recipients = {
  /** Recipients that are claimed, or about to be, and certainly not handed over. */
  readonly notSent: Set<number>;
  readonly last: number | undefined;
  readonly aside: Pick<Aside, "refused">;
};

type Progress = Tried & {
  readonly handle: (recipient: number) => Promise<void>;
  readonly outage: Pick<Outage, "reason" | "allTried">;
  /** Aborts when nothing more is to be waited for. */
  readonly hurry: AbortSignal;
  readonly end: () => void;
};

export function trackProgress(
  held: HeldTurn,
  lease: Lease,
  books: Bookkeeper,
  leavingOut: LeavingOut,
  { notSent, last, aside }: Recipients,
  { serve, after, stopping }: Serving,
): Progress {
  let notBeforeMs = 0;
  const untilNext = new AbortController();
  const hurry = (): void => untilNext.abort();
  lease.onLost(hurry);
  stopping.addEventListener("abort", hurry);

  const defer = async (recipient: number, error: DeliveryError, byRoute = {}, isPutOff = false): Promise<void> => {
    if (isPutOff || mayBeDeferred(held))
      return await books.outcome({ type: "RecipientDeferred", recipient, error, ...byRoute });
    const last = { ...error, code: held.deferredUntil === null ? "attempts-exhausted" : "deferred-too-long" };
    await books.outcome({ type: "RecipientFailed", recipient, error: last, ...byRoute });
  };
  const outage = watchOutage(held.ledger, notSent, defer);

  const record = async (recipient: number, served: Served): Promise<void> => {
    const { messageId, outcome, retryAfterMs, isThrottled = false, onceRecorded } = served;
    const byRoute = served.route ? { route: served.route } : {};
    if (outcome.kind === "unavailable") return outage.met(recipient, outcome);
    if (outcome.kind === "sent") {
      const { response } = outcome;
      return await books.outcome({ type: "RecipientSent", recipient, messageId, response, ...byRoute });
    }
    const { error } = outcome;
    switch (outcome.kind) {
      case "failed":
        return await books.outcome({ type: "RecipientFailed", recipient, error, ...byRoute }, onceRecorded);
      case "unknown": {
        // Not sent again at once: a server that is slow to answer would get one copy after the other. Nor in each of the
        // attempts that use up none, for recipients that are put off: there may be hundreds of them.
        const isSentTooOften = timesInDoubt(held.ledger, recipient) + 1 >= held.settings.maxAttempts;
        const isLeftAlone = held.settings.onUnknown === "skip" || isSentTooOften || !mayBeDeferred(held);
        return await books.outcome({ type: isLeftAlone ? "RecipientUnknown" : "RecipientDeferred", recipient, error });
      }
      case "deferred": {
        notBeforeMs = Math.min(longestRetryAfterMs, Math.max(notBeforeMs, retryAfterMs ?? 0));
        const isPutOff = isThrottled && held.deferredUntil === null && mayBePutOff(held);
        if (isPutOff) aside.refused(recipient);
        return await defer(recipient, error, byRoute, isPutOff);
      }
    }
  };

  const mayServe = async (recipient: number): Promise<boolean> => {
    let lookedAt: number;
    do {
      lookedAt = performance.now();
      if (!stopping.aborted && (await leavingOut.sift([recipient])).length === 0) return false;
      if (stopping.aborted || !(await lease.confirmLately())) return false;
      // The lease was checked last; if that took long, the first answer is out of date.
    } while (performance.now() - lookedAt > answersHoldMs);
    return !stopping.aborted;
  };

  return {
    outage,
    hurry: untilNext.signal,
    notBeforeMs: () => notBeforeMs,
    end: () => stopping.removeEventListener("abort", hurry),
    handle: async (recipient) => {
      if (leavingOut.isLeftOut(recipient)) return;
      // Whenever it asks, the recipient is certainly not served, also if the answer is an exception.
      const mayStill = async (): Promise<boolean> => {
        notSent.add(recipient);
        const isAllowed = await mayServe(recipient);
        if (isAllowed || leavingOut.isLeftOut(recipient)) notSent.delete(recipient);
        return isAllowed;
      };
      if (!(await mayStill())) return;
      const served = await serve(recipient, mayStill, untilNext.signal);
      if (served === null) {
        if (!leavingOut.isLeftOut(recipient)) notSent.add(recipient);
        return;
      }
      await record(recipient, served);
      if (isAnswer(served.outcome)) await outage.answered();
      if (recipient !== last) await after?.(untilNext.signal);
    },
  };
}
