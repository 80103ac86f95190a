import type { DeliveryError, SuppressionReason } from "../domain/recipients/events.ts";
import { isHardStatus } from "../domain/recipients/hard-status.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";
import type { SuppressedDigests } from "./suppressed-digests.ts";
import type { SuppressionStore } from "./suppression-store.ts";
import { createKeyed, type UnsubscribeLinks } from "./unsubscribe-links.ts";

/** The job that sent the mail, and the request that it began with. */
type ServedTurn = { readonly job: JobRef; readonly cause: Pick<Cause, "correlationId" | "traceparent"> };

/** The suppression lists as the sending of mails uses them. */
export interface SuppressionGuard {
  /** Why this address must not be mailed, as of at most a second ago; null if it may be. Throws Unavailable. */
  reasonFor(tenant: string, email: string): Promise<SuppressionReason | null>;

  /**
   * Adds an address that a mail server has refused as nonexistent. Call it once the refusal is recorded: a worker that
   * dies before that leaves no address on the list whose mail is in doubt. Never throws: a failure is reported to the
   * operators, and the next mail to the address finds out again.
   */
  refused(turn: ServedTurn, email: string, error: DeliveryError): Promise<void>;

  /** Throws Unavailable. */
  links(): Promise<UnsubscribeLinks>;
}

export const isHardBounce = ({ code, statusCode }: DeliveryError): boolean =>
  code === "rejected" && statusCode !== null && isHardStatus(statusCode);

type Report = (failure: unknown, turn: ServedTurn) => void;

/**
 * `report` is called when a hard bounce could not be stored; the failure contains no address. `isErased` tells whether any
 * content of a job was erased.
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
      // Matches are few, and a matching address may have been removed since: the leader knows.
      return digests.mayHave(key.digest) ? ((await store.find(key))?.reason ?? null) : null;
    },
    refused: async (turn, email, error) => {
      if (!isHardBounce(error)) return;
      try {
        const suppression = { email, reason: "hard-bounce", createdAt: new Date().toISOString() } as const;
        const key = await keyOf(turn.job.tenant, email);
        await store.put(key, suppression, turn.job.jobId);
        // If the worker was suspended before this line, its job may have ended and been erased meanwhile.
        if (await isErased(turn.job)) await store.forget(key, turn.job.jobId);
      } catch (failure) {
        report(failure, turn);
      }
    },
    links: async () => (await keyed()).links,
  };
}
