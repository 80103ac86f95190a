import type {
  DeliveryError,
  RecipientEvent,
  RecipientOutcome,
  SuppressionReason,
} from "../domain/recipients/events.ts";
import { recordInLedger } from "../domain/recipients/ledger.ts";
import type { EventLog } from "../event-log/event-log.ts";
import { persistently } from "../event-log/persistently.ts";
import type { Lease } from "./lease.ts";
import type { HeldTurn } from "./turn.ts";

/** When more outcomes than this are on their way to the log, sending waits. */
const maxUnstored = 100;

/** Records what happens to the recipients of a held turn, in the log and in the turn's ledger. */
export type Bookkeeper = {
  /** Returns once the claims are stored. */
  claim(recipients: readonly number[]): Promise<void>;
  /** Takes back claims of recipients that were certainly not handed to a mail server. */
  release(recipients: readonly number[]): Promise<void>;
  /**
   * Makes sure that the outcome gets stored; waits only while too many are on their way. `onceRecorded` is what follows from
   * the outcome elsewhere. It does not run before the outcome is stored: otherwise a worker that died in between would leave
   * behind a consequence of something that was never recorded.
   */
  outcome(facts: OutcomeFacts, onceRecorded?: () => Promise<void>): Promise<void>;
  /** Returns once every outcome is stored and every `onceRecorded` has run. */
  settled(): Promise<void>;
};

/** An event of the worker, to which the bookkeeper adds run, attempt and time. */
export type OutcomeFacts =
  | {
      readonly type: "RecipientSent";
      readonly recipient: number;
      readonly messageId: string;
      readonly response: string;
    }
  | { readonly type: "RecipientSuppressed"; readonly recipient: number; readonly reason: SuppressionReason }
  | {
      readonly type: Exclude<RecipientOutcome["type"], "RecipientSent" | "RecipientSuppressed">;
      readonly recipient: number;
      readonly error: DeliveryError;
    };

type Clock = () => string;

/** `claiming` limits the wait for the log before something happens, `giveUp` the wait after it has happened. */
export function createBookkeeper(
  log: EventLog,
  held: HeldTurn,
  now: Clock,
  claiming: AbortSignal,
  giveUp: AbortSignal,
): Bookkeeper {
  const { job, turn, worker, leaseSequence, cause, ledger } = held;
  const unstored = new Set<Promise<void>>();
  let failure: unknown = null;

  // The id names the lease: within one attempt the job may be paused and resumed, or change its worker, and a second
  // event about the same recipient is then a new one. With the id of the first, the log would drop it silently.
  const store = async (patience: AbortSignal, what: string, event: RecipientEvent): Promise<void> => {
    const id = `${job.jobId}/${leaseSequence}/${what}`;
    await persistently(patience, () => log.record(job, [{ ...cause, id, event }]));
    recordInLedger(ledger, event);
  };

  return {
    claim: async (recipients) => {
      const data = { ...turn, worker, recipients };
      await store(claiming, `claim/${recipients[0]}`, { type: "RecipientsClaimed", at: now(), data });
    },
    release: async (recipients) => {
      if (recipients.length === 0) return;
      const data = { ...turn, recipients };
      await store(giveUp, `release/${recipients[0]}`, { type: "RecipientsReleased", at: now(), data });
    },
    outcome: async ({ type, ...facts }, onceRecorded) => {
      const event = { type, at: now(), data: { ...turn, ...facts } } as RecipientOutcome;
      const storing = store(giveUp, `${facts.recipient}/${type}`, event).then(onceRecorded);
      unstored.add(storing);
      storing
        .catch((reason: unknown) => {
          failure ??= reason;
        })
        .finally(() => unstored.delete(storing));
      if (unstored.size > maxUnstored) await storing;
    },
    settled: async () => {
      await Promise.allSettled(unstored);
      if (failure !== null) throw failure;
    },
  };
}

/**
 * Takes claims back, as a claim left behind would count as a mail in doubt. A decision about the job may meanwhile have
 * handed it to another worker, which then owns these claims; from a pause until the job is resumed there is no other
 * worker. Returns whether the lease is held.
 */
export async function giveBackClaims(lease: Lease, books: Bookkeeper, notSent: ReadonlySet<number>): Promise<boolean> {
  const isHeld = await lease.confirm();
  if (isHeld || (notSent.size > 0 && (await lease.wasOnlyPaused()))) await books.release([...notSent]);
  return isHeld;
}
