import type { DeliveryError, SuppressionReason } from "../domain/recipients/events.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";
import type { SuppressedDigests } from "./suppressed-digests.ts";
import type { SuppressionStore } from "./suppression-store.ts";
import { createKeyed, type UnsubscribeLinks } from "./unsubscribe-links.ts";

/** Whose mail it was, and what it all began with. */
type ServedTurn = { readonly job: JobRef; readonly cause: Pick<Cause, "correlationId" | "traceparent"> };

/** What whoever sends mail asks of the lists. */
export interface SuppressionGuard {
  /** Why this address is not to be mailed, as of a second ago at most; null where it may be. Throws Unavailable. */
  reasonFor(tenant: string, email: string): Promise<SuppressionReason | null>;

  /**
   * Puts an address on the list that a mail server has refused as one that does not exist, once that is recorded: a
   * worker that dies before leaves nobody on the list whose mail is in doubt. Never throws: what cannot be stored now
   * is told to the operators, and found out again by the next mail.
   */
  refused(turn: ServedTurn, email: string, error: DeliveryError): Promise<void>;

  /** Throws Unavailable. */
  links(): Promise<UnsubscribeLinks>;
}

/**
 * RFC 3463 and its registry: no such mailbox, no such system, moved without saying where to, and a domain that takes
 * no mail. Not a mailbox that is full or disabled, and nothing of policy: those may be mailed another time.
 */
const hardBounces: ReadonlySet<string> = new Set(["5.1.1", "5.1.2", "5.1.6", "5.1.10"]);

export const isHardBounce = ({ code, statusCode }: DeliveryError): boolean =>
  code === "rejected" && statusCode !== null && hardBounces.has(statusCode);

type Report = (failure: unknown, turn: ServedTurn) => void;

/**
 * `report` hears of hard bounces that could not be stored; no address is in what it hears. `isErased` tells whether
 * anything of what a job has sent was erased.
 */
export function createSuppressionGuard(
  store: SuppressionStore,
  digests: SuppressedDigests,
  isErased: (job: JobRef) => Promise<boolean>,
  report: Report,
): SuppressionGuard {
  const keyed = createKeyed(store);
  const keyOf = async (tenant: string, email: string) => ({ tenant, digest: (await keyed()).digest(tenant, email) });
  return {
    reasonFor: async (tenant, email) => {
      await digests.upToDate();
      if (digests.size() === 0) return null;
      const key = await keyOf(tenant, email);
      // Few are found, and who is may have been taken off the list since: that is asked of the leader.
      return digests.mayHave(key.digest) ? ((await store.find(key))?.reason ?? null) : null;
    },
    refused: async (turn, email, error) => {
      if (!isHardBounce(error)) return;
      try {
        const suppression = { email, reason: "hard-bounce", createdAt: new Date().toISOString() } as const;
        const key = await keyOf(turn.job.tenant, email);
        await store.put(key, suppression, turn.job.jobId);
        // A worker that was stopped before this line may find its job ended and erased meanwhile.
        if (await isErased(turn.job)) await store.forget(key, turn.job.jobId);
      } catch (failure) {
        report(failure, turn);
      }
    },
    links: async () => (await keyed()).links,
  };
}
