import type { Instant } from "../domain/message.ts";
import { Unavailable } from "../domain/unavailable.ts";
import { type EventLog, logRef } from "../event-log/event-log.ts";
import { LogFull, VersionConflict } from "../event-log/log-failures.ts";
import { leafHashOf } from "../event-log/log-message.ts";
import { createGrowingTree, type GrowingTree } from "./merkle.ts";
import { digestOfSeal, isSealSubject, type SealDraft, type StoredSeal, signSeal } from "./seal.ts";
import type { SealKey } from "./seal-key.ts";
import { askObservers, informObservers, LogRolledBack, type SealObserver } from "./seal-observer.ts";
import type { SealedLog } from "./sealed-log.ts";

/**
 * Copies of the log told different messages, or a server came back without its last ones and went on with others: a seal
 * over the wrong ones would accuse the right ones for ever.
 */
export class ReadingsDiffer extends Unavailable {}

export type SealerSetup = {
  readonly log: EventLog;
  readonly sealedLog: SealedLog;
  readonly key: SealKey;
  readonly observers: readonly SealObserver[];
  readonly everyEvents: number;
  /** The longest time that an event waits for its seal. */
  readonly everyMs: number;
  readonly now: () => Instant;
  /** Is called if an observer could not be read or informed; sealing goes on. */
  readonly report: (failure: unknown) => void;
};

export interface Sealer {
  /**
   * Reads what was appended since the last call, and seals what is due. Any number of processes may do so: appends to the
   * subject of seals are guarded, so that one seal is stored and the other processes go on after it. Throws LogRolledBack,
   * and ReadingsDiffer, after which the range is read anew.
   */
  sealWhatIsDue(): Promise<void>;
  /** Seals everything that is in the log now, unless only seals are left to seal. */
  sealNow(): Promise<void>;
}

/** The messages after the last seal, hashed as far as they have been read. */
type OpenRange = {
  readonly after: StoredSeal | null;
  readonly tree: GrowingTree;
  position: number;
  /** The hash of the message at the position; null where none was read. */
  lastLeaf: Buffer | null;
  /** When the first event in the range was stored; null while it holds only a seal, or each seal would require another. */
  openedAtMs: number | null;
};

/** Reads the log once as it grows, and keeps about forty hashes, however long a range is. */
export function createSealer(setup: SealerSetup): Sealer {
  const { sealedLog, everyEvents, everyMs, now } = setup;
  let open: OpenRange | null = null;
  let turn: Promise<void> = Promise.resolve();

  const isFull = ({ tree }: OpenRange): boolean => tree.size() >= everyEvents;
  const isOld = ({ openedAtMs }: OpenRange): boolean =>
    openedAtMs !== null && Date.parse(now()) - openedAtMs >= everyMs;
  const holdsEvents = ({ openedAtMs }: OpenRange): boolean => openedAtMs !== null;

  /** Null if another process has sealed meanwhile: what was read is discarded. */
  const readOn = async (range: OpenRange): Promise<OpenRange | null> => {
    let current = range;
    await expectLastThere(sealedLog, current);
    if (isFull(current)) {
      const next = await sealRange(setup, current);
      if (next === null) return null;
      current = next;
    }
    for await (const batch of sealedLog.messages(current.position, "all")) {
      for (const message of batch) {
        current.lastLeaf = leafHashOf(message);
        current.tree.add(current.lastLeaf);
        current.position = message.sequence;
        if (!isSealSubject(message.subject)) current.openedAtMs ??= Number(message.storedAt.slice(0, -6));
        open = current;
        if (!isFull(current)) continue;
        const next = await sealRange(setup, current);
        if (next === null) return null;
        open = current = next;
      }
    }
    return current;
  };

  const work = async (isDue: (range: OpenRange) => boolean): Promise<void> => {
    for (;;) {
      const range: OpenRange | null = await readOn(open ?? (await openAfterLast(setup)));
      const done = range !== null && !isDue(range);
      open = range === null || done ? range : await sealRange(setup, range);
      if (done) return;
    }
  };
  const inTurn = (isDue: (range: OpenRange) => boolean): Promise<void> => {
    turn = turn
      .catch(() => {})
      .then(() => work(isDue))
      .catch((failure: unknown) => {
        // Whatever was wrong, the next call begins from what the log holds then.
        open = null;
        throw failure;
      });
    return turn;
  };

  return { sealWhatIsDue: () => inTurn(isOld), sealNow: () => inTurn(holdsEvents) };
}

async function openAfterLast({ sealedLog, observers, report }: SealerSetup): Promise<OpenRange> {
  await askObservers({ sealedLog, observers, report });
  const last = await sealedLog.lastSeal();
  // The process that sealed it may have died before it could inform the observers.
  if (last !== null) await informObservers(observers, last, report);
  return openAfter(last);
}

const openAfter = (after: StoredSeal | null): OpenRange => ({
  after,
  tree: createGrowingTree(),
  position: after?.to ?? 0,
  lastLeaf: null,
  openedAtMs: null,
});

/** Null if another process was faster. */
async function sealRange(setup: SealerSetup, range: OpenRange): Promise<OpenRange | null> {
  const { log, sealedLog, key, observers, now, report } = setup;
  await askObservers(setup);
  const { sealedAt, ...data } = signSeal(draftOf(range, now()), key);
  const { from, to, root } = data;
  await expectLastThere(sealedLog, range);
  if (sealedLog.hasCopies()) await expectSameAgain(sealedLog, range);
  const event = { type: "LogSealed", at: sealedAt, data } as const;
  const cause = { actor: "sealer", correlationId: null, causationId: null, traceparent: null };
  const id = `seal/${from}-${to}/${root.slice(0, 16)}`;
  try {
    await log.append(logRef, [{ id, event, ...cause }], range.after?.sequence ?? 0);
  } catch (failure) {
    if (failure instanceof VersionConflict) return null;
    throw failure;
  }
  // Read back, because after a lost answer the same range may have been sealed by another process.
  const stored = await sealedLog.lastSeal();
  if (stored === null || stored.to !== to) return null;
  await informObservers(observers, stored, report);
  return openAfter(stored);
}

/** A single server that came back without its last messages gives their sequences to others. A copy may only lag behind. */
async function expectLastThere(sealedLog: SealedLog, { position, lastLeaf }: OpenRange): Promise<void> {
  if (lastLeaf === null || sealedLog.hasCopies()) return;
  const there = await sealedLog.messageAt(position);
  if (there !== null && leafHashOf(there).equals(lastLeaf)) return;
  throw new ReadingsDiffer(
    `The log does not hold message ${position} as it was read. It is not sealed, and read again.`,
  );
}

/** Reads the range once more: the reader may have been at a copy that was out of step. */
async function expectSameAgain({ messages }: SealedLog, { after, tree, position }: OpenRange): Promise<void> {
  const again = createGrowingTree();
  read: for await (const batch of messages(after?.to ?? 0, "all")) {
    for (const message of batch) {
      if (message.sequence > position) break read;
      again.add(leafHashOf(message));
    }
  }
  if (again.root().equals(tree.root())) return;
  const range = `${(after?.to ?? 0) + 1} to ${position}`;
  throw new ReadingsDiffer(
    `Two readings of the messages ${range} of the log differ. They are not sealed, and read again.`,
  );
}

const draftOf = ({ after, tree, position }: OpenRange, sealedAt: Instant): SealDraft => ({
  from: (after?.to ?? 0) + 1,
  to: position,
  count: tree.size(),
  root: tree.root().toString("hex"),
  previous: after === null ? null : digestOfSeal(after),
  sealedAt,
});

/** Requests for evidence add at most one seal to the log in this time, however many they are. */
const atMostEveryMs = 10_000;

/**
 * Seals the log up to a sequence now, so that evidence about it is complete, but not too soon after the last seal. If the
 * log is full or was rolled back, nothing is sealed, and the evidence says so.
 */
export async function ensureSealed(
  sealedLog: SealedLog,
  sealer: Sealer,
  sequence: number,
  now: Instant,
): Promise<void> {
  const last = await sealedLog.lastSeal();
  if (last !== null && (last.to >= sequence || Date.parse(now) - Date.parse(last.sealedAt) < atMostEveryMs)) return;
  try {
    await sealer.sealNow();
  } catch (failure) {
    if (!(failure instanceof LogFull) && !(failure instanceof LogRolledBack)) throw failure;
  }
}
