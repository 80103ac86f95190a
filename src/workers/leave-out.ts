import { outcomeUnknown, type SuppressionReason } from "../domain/recipients/events.ts";
import { isSettled, recipientsInDoubt } from "../domain/recipients/ledger.ts";
import { persistently } from "../event-log/persistently.ts";
import type { Bookkeeper } from "./bookkeeper.ts";
import { answersHoldMs } from "./lease.ts";
import type { HeldTurn } from "./turn.ts";

/** Leaves out recipients that must not be served, or not any more. */
export type LeavingOut = {
  /** Records the recipients of the group that must not be served; returns those that are to be served. */
  sift(group: readonly number[]): Promise<readonly number[]>;
  /** Whether the recipient was left out: then nothing remains to do for it. */
  isLeftOut(recipient: number): boolean;
};

export type WhyNot = (recipient: number) => Promise<SuppressionReason | null>;

/**
 * Called before the claim, and again right before the mail, which may be long after; a decision in between applies from the
 * next mail on. For a recipient that was in doubt before, the record does not claim that nothing was sent. `patience`
 * ends the wait for an answer; the call then throws Unavailable.
 *
 * The worker that left recipients in doubt may only have been frozen, and record their outcomes when it wakes. So the ledger
 * is read again before one of them is served, unless it was read a moment ago: this worker may have been frozen, too. Where
 * it freezes after that, the recipient is served once more: it is one of those that a crash leaves in doubt anyway.
 */
export function createLeavingOut(
  { ledger, readLedger, confirmedAt }: Pick<HeldTurn, "ledger" | "readLedger" | "confirmedAt">,
  books: Bookkeeper,
  whyNot: WhyNot | undefined,
  patience: AbortSignal,
): LeavingOut {
  const leftOut = new Set<number>();
  const doubtful = new Set(recipientsInDoubt(ledger));
  let latest = { ledger, readAt: confirmedAt };
  let reading: Promise<void> | null = null;

  const readAgain = async (): Promise<void> => {
    const askedAt = performance.now();
    let read = await readLedger();
    // The process may have stood still before the answer. A log that is slow each time is believed nevertheless.
    if (performance.now() - askedAt > answersHoldMs) read = await readLedger();
    latest = { ledger: read, readAt: performance.now() };
  };
  const leaveOutSettled = async (inDoubt: readonly number[]): Promise<void> => {
    if (inDoubt.length > 0 && performance.now() - latest.readAt > answersHoldMs) {
      reading ??= readAgain().finally(() => {
        reading = null;
      });
      await reading;
    }
    for (const recipient of inDoubt.filter((one) => isSettled(latest.ledger, one))) {
      ledger.cells[recipient] = latest.ledger.cells[recipient] as number;
      leftOut.add(recipient);
    }
  };
  const leaveOut = async (recipient: number, reason: SuppressionReason): Promise<void> => {
    leftOut.add(recipient);
    if (!doubtful.has(recipient)) return await books.outcome({ type: "RecipientSuppressed", recipient, reason });
    const message = "The worker died while this was on its way, and by now it is on the suppression list.";
    const error = { code: outcomeUnknown, message, replyCode: null, statusCode: null };
    await books.outcome({ type: "RecipientUnknown", recipient, error });
  };

  return {
    isLeftOut: (recipient) => leftOut.has(recipient),
    sift: async (group) => {
      await leaveOutSettled(group.filter((recipient) => doubtful.has(recipient)));
      const served = group.filter((recipient) => !leftOut.has(recipient));
      if (whyNot === undefined) return served;
      const reasons = await persistently(patience, () => Promise.all(served.map(whyNot)));
      for (const [index, recipient] of served.entries()) {
        const reason = reasons[index] ?? null;
        if (reason !== null) await leaveOut(recipient, reason);
      }
      return served.filter((recipient) => !leftOut.has(recipient));
    },
  };
}
