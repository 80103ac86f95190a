import type { SuppressionReason } from "../domain/recipients/events.ts";
import { persistently } from "../event-log/persistently.ts";
import type { Bookkeeper } from "./bookkeeper.ts";

/** Keeps recipients from being served who are not to be. */
export type LeavingOut = {
  /** Records those of the group who are not to be served; the others come back. */
  sift(group: readonly number[]): Promise<readonly number[]>;
  /** Whether it was recorded as such: there is nothing left to do for it. */
  isLeftOut(recipient: number): boolean;
};

export type WhyNot = (recipient: number) => Promise<SuppressionReason | null>;

/**
 * Asked before the claim, and again right before the mail, which may be long after: what is decided meanwhile holds for
 * the next one. Of who was in doubt before it is not said that nothing was sent. `patience` ends the waiting for an
 * answer; what was asked then throws Unavailable.
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
