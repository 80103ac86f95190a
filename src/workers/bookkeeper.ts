import type { handleCommand } from "../commands/handle-command.ts";
import type { Turn } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";
import type { RecipientEvent, RecipientOutcome } from "../domain/recipients/events.ts";
import { recordInLedger } from "../domain/recipients/ledger.ts";
import { Unavailable } from "../domain/unavailable.ts";
import { type EventLog, maxEventsOfEntry, type NewEntry, type NewEvent } from "../event-log/event-log.ts";
import { persistently } from "../event-log/persistently.ts";
import { type Committing, createGroupCommit } from "./group-commit.ts";
import { createLateClaims } from "./late-claims.ts";
import type { Lease } from "./lease.ts";
import type { HeldTurn } from "./turn.ts";

/** Records what happens to the recipients of a held turn, in the log and in the turn's ledger. */
export type Bookkeeper = {
  /** Returns once the claims are stored; false where they are not, as the lease was lost before. */
  claim(recipients: readonly number[]): Promise<boolean>;
  /** Takes back claims of recipients that were certainly not handed to a mail server. */
  release(recipients: readonly number[]): Promise<void>;
  /**
   * Makes sure that the outcome gets stored; waits only while too many outcomes of this process are not on their way to the
   * log. `onceRecorded` is what follows from the outcome elsewhere. It does not run before the outcome is stored: otherwise
   * a worker that died in between would leave behind a consequence of something that was never recorded.
   */
  outcome(facts: OutcomeFacts, onceRecorded?: () => Promise<void>): Promise<void>;
  /** Returns once every outcome is stored and every `onceRecorded` has run. */
  settled(): Promise<void>;
  /**
   * Lets `decide` store the outcomes that are not stored yet, in one entry with the decision that ends the attempt. Where
   * `decide` answers that no decision was stored, they are stored without one. Returns as `settled` does.
   */
  settleWith(decide: (facts: readonly NewEvent<RecipientEvent>[]) => Promise<Decided>): Promise<Decided>;
};

type Decided = Awaited<ReturnType<typeof handleCommand>>;

/** An outcome, to which the bookkeeper adds run, attempt and time. */
type OutcomeFacts<Outcome = RecipientOutcome> = Outcome extends RecipientOutcome
  ? Pick<Outcome, "type"> & Omit<Outcome["data"], keyof Turn>
  : never;

/** `claiming` limits the wait for the log before something happens, `giveUp` the wait after it has happened. */
export function createBookkeeper(
  log: EventLog,
  held: HeldTurn,
  now: () => Instant,
  unwritten: Unwritten,
  { claiming, giveUp }: { readonly claiming: AbortSignal; readonly giveUp: AbortSignal },
): Bookkeeper {
  const { job, turn, worker, leaseSequence, help, cause, ledger, settings } = held;
  const source = [job.jobId, leaseSequence, ...(help === null ? [] : [help])].join("/");
  const consequences = new Set<Promise<void>>();
  let releases = 0;
  let hasConsequences = false;
  let failure: unknown = null;
  const claims = createLateClaims(log, held);
  const store = async (entry: NewEntry<RecipientEvent>): Promise<void> => {
    const [first, ...others] = await claims.inTime(entry);
    if (first !== undefined) await log.record(job, [first, ...others]);
  };
  const group = createGroupCommit((entry) => persistently(giveUp, () => store(entry)), unwritten.limit);

  // The id names the lease: within one attempt the job may be paused and resumed, or change its worker, and a second
  // event about the same recipient is then a new one. With the id of the first, the log would drop it silently. It names
  // the help, too: a recipient that one helper handed back is claimed once more under the same lease. So is one that this
  // worker released: the id of a claim, and of a release, names the releases before it.
  const idOf = (what: string): string => `${source}/${what}`;
  const add = (what: string, event: RecipientEvent): Committing => {
    recordInLedger(ledger, event);
    return group.add({ ...cause, id: idOf(what), event });
  };
  const afterReleases = (what: string): string => (releases === 0 ? what : `${what}/${releases}`);
  const follow = (consequence: Promise<void>): void => {
    consequences.add(consequence);
    consequence
      .catch((reason: unknown) => {
        failure ??= reason;
      })
      .finally(() => consequences.delete(consequence));
  };
  const settled = async (): Promise<void> => {
    group.hurry();
    await Promise.allSettled(consequences);
    if (failure !== null) throw failure;
  };

  return {
    claim: async (recipients) => {
      const data = { ...turn, worker, recipients };
      const what = afterReleases(`claim/${recipients[0]}`);
      claims.asked(idOf(what));
      const { stored } = add(what, { type: "RecipientsClaimed", at: now(), data });
      group.hurry();
      follow(stored);
      await storedInTime(stored, claiming);
      return claims.areStored(idOf(what));
    },
    release: async (recipients) => {
      if (recipients.length === 0) return;
      const data = { ...turn, recipients };
      const what = afterReleases(`release/${recipients[0]}`);
      releases += 1;
      const { stored } = add(what, { type: "RecipientsReleased", at: now(), data });
      group.hurry();
      await stored;
    },
    outcome: async ({ type, ...facts }, onceRecorded) => {
      const event = { type, at: now(), data: { ...turn, ...facts } } as RecipientOutcome;
      const { written, stored } = add(`${facts.recipient}/${type}`, event);
      unwritten.add(written);
      hasConsequences ||= onceRecorded !== undefined;
      follow(stored.then(onceRecorded));
      // A job that leaves doubtful recipients alone must not make any by waiting.
      if (settings.onUnknown === "skip" || unwritten.isFull()) group.hurry();
      if (unwritten.isFull()) await written;
    },
    settled,
    settleWith: async (decide) => {
      // No worker takes up a job that has ended: what follows from an outcome is done before.
      if (hasConsequences) await settled();
      const rest = await group.takeRest(maxEventsOfEntry - 1).catch(async (reason: unknown) => {
        // What waits behind an entry that could not be stored is tried all the same.
        await settled().catch(() => {});
        throw reason;
      });
      const decided = await decide(rest.events).catch((reason: unknown) => {
        rest.settle(reason);
        throw reason;
      });
      const [first, ...others] = rest.events;
      const isStored = decided.outcome === "accepted" && decided.events.length > 0;
      if (!isStored && first !== undefined) await storeAlone([first, ...others]).catch(rest.settle);
      rest.settle();
      await settled();
      return decided;
    },
  };

  /** Another decision came first, or this one was stored before and its answer was lost: then the facts are, too. */
  async function storeAlone(facts: NewEntry<RecipientEvent>): Promise<void> {
    await persistently(giveUp, async () => {
      const known = new Set((await log.readHistory(job)).map(({ id }) => id));
      const [first, ...others] = facts.filter(({ id }) => !known.has(id));
      if (first !== undefined) await log.record(job, [first, ...others]);
    });
  }
}

/** A worker that is to stop waits no longer than this for a claim that is on its way. */
const lastClaimMs = 2000;

/** The claim may still be stored after the wait has ended, so the caller takes it back. */
function storedInTime(stored: Promise<void>, claiming: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const hurry = (): void => {
      timer = setTimeout(
        () => reject(new Unavailable("The claim was not stored before the worker stops.")),
        lastClaimMs,
      );
    };
    claiming.addEventListener("abort", hurry, { once: true });
    if (claiming.aborted) hurry();
    stored.then(resolve, reject).finally(() => {
      claiming.removeEventListener("abort", hurry);
      clearTimeout(timer);
    });
  });
}

/** The outcomes of a process, over all its jobs, that are not on their way to the log yet. */
export type Unwritten = {
  /** A job whose outcomes fill an entry of this size stores them at once. */
  readonly limit: number;
  add(written: Promise<void>): void;
  isFull(): boolean;
};

/** After a kill, the mails whose outcomes were not written may be mailed again: `limit` bounds them. */
export function createUnwritten(limit: number): Unwritten {
  let count = 0;
  return {
    limit,
    add: (written) => {
      count += 1;
      void written.then(() => {
        count -= 1;
      });
    },
    isFull: () => count >= limit,
  };
}

/**
 * Takes claims back, as a claim left behind would count as a mail in doubt. A decision about the job may meanwhile have
 * handed it to another worker, which then owns these claims; until that one takes the lease, for which it asks this worker
 * first, they are this worker's. Returns whether the lease is held.
 */
export async function giveBackClaims(lease: Lease, books: Bookkeeper, notSent: ReadonlySet<number>): Promise<boolean> {
  const isHeld = await lease.confirm();
  if (isHeld || (notSent.size > 0 && (await lease.isFree()))) await books.release([...notSent]);
  return isHeld;
}
