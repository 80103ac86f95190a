import type { JobError } from "../domain/job/events.ts";
import type { DeliveryError, SendOutcome } from "../domain/recipients/events.ts";
import { deferredRecipients, type Ledger } from "../domain/recipients/ledger.ts";

export type Outage = {
  /** Why no recipient at all can be served, once that is known. */
  readonly reason: () => JobError | null;
  readonly met: (recipient: number, outcome: Extract<SendOutcome, { kind: "unavailable" }>) => void;
  /** The server has answered for a recipient. */
  readonly answered: () => Promise<void>;
  /** Every recipient was tried. */
  readonly allTried: () => Promise<void>;
};

/** So many recipients in a row at whose mails the server ends the connection are not the reason. */
const mostInRow = 3;

/**
 * Tells a server that is away from one that cannot cope with the mail of one recipient, and ends the connection: the others
 * are tried all the same. If the server answers for one of them, or has in this attempt, that recipient is deferred; also
 * where it is alone by now, and was deferred before. Until then, and in doubt, `notSent` has it.
 */
export function watchOutage(
  ledger: Ledger,
  notSent: Set<number>,
  defer: (recipient: number, error: DeliveryError) => Promise<void>,
): Outage {
  const wereDeferred = new Set(deferredRecipients(ledger));
  const suspects = new Map<number, DeliveryError>();
  let reason: JobError | null = null;
  let last: JobError | null = null;
  let hasAnswered = false;

  const deferSuspects = async (): Promise<void> => {
    const all = [...suspects];
    suspects.clear();
    for (const [recipient, error] of all) {
      notSent.delete(recipient);
      await defer(recipient, error);
    }
  };
  return {
    reason: () => reason,
    met: (recipient, { error, ofMail }) => {
      notSent.add(recipient);
      last = error;
      if (ofMail !== undefined) suspects.set(recipient, ofMail);
      if (ofMail === undefined || suspects.size === mostInRow) reason ??= error;
    },
    answered: async () => {
      hasAnswered = true;
      if (reason === null) await deferSuspects();
    },
    allTried: async () => {
      if (reason !== null || suspects.size === 0) return;
      const isKnown = hasAnswered || [...suspects.keys()].every((recipient) => wereDeferred.has(recipient));
      if (isKnown) await deferSuspects();
      else reason = last;
    },
  };
}
