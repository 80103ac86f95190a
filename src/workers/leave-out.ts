import type { SuppressionReason } from "../domain/recipients/events.ts";
import { persistently } from "../event-log/persistently.ts";
import type { Bookkeeper } from "./bookkeeper.ts";

/** Leaves out recipients that must not be served. */
export type LeavingOut = {
  /** Records the recipients of the group that must not be served; returns the others. */
  sift(group: readonly number[]): Promise<readonly number[]>;
  /** Whether the recipient was recorded as left out: then nothing remains to do for it. */
  isLeftOut(recipient: number): boolean;
};

export type WhyNot = (recipient: number) => Promise<SuppressionReason | null>;

/**
 * Called before the claim, and again right before the mail, which may be long after; a decision in between applies from the
 * next mail on. For a recipient that was in doubt before, the record does not claim that nothing was sent. `patience`
 * ends the wait for an answer; the call then throws Unavailable.
 */
export function createLeavingOut(
  books: Bookkeeper,
  whyNot: WhyNot | undefined,
  inDoubt: readonly number[],
  patience: AbortSignal,
): LeavingOut {
  const leftOut = new Set<number>();
  const doubtful = new Set(inDoubt);

  const leaveOut = async (recipient: number, reason: SuppressionReason): Promise<void> => {
    leftOut.add(recipient);
    if (!doubtful.has(recipient)) return await books.outcome({ type: "RecipientSuppressed", recipient, reason });
    const message = "The worker died while this was on its way, and by now it is on the suppression list.";
    const error = { code: "outcome-unknown", message, replyCode: null, statusCode: null };
    await books.outcome({ type: "RecipientUnknown", recipient, error });
  };

  return {
    isLeftOut: (recipient) => leftOut.has(recipient),
    sift: async (group) => {
      if (whyNot === undefined) return group;
      const reasons = await persistently(patience, () => Promise.all(group.map(whyNot)));
      for (const [index, recipient] of group.entries()) {
        const reason = reasons[index] ?? null;
        if (reason !== null && !leftOut.has(recipient)) await leaveOut(recipient, reason);
      }
      return group.filter((recipient) => !leftOut.has(recipient));
    },
  };
}
