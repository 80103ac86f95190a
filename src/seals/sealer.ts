import type { Instant } from "../domain/message.ts";
import { type EventLog, LogFull, logRef, VersionConflict } from "../event-log/event-log.ts";
import { leafHashOf } from "../event-log/log-message.ts";
import { createGrowingTree, type GrowingTree } from "./merkle.ts";
import { digestOfSeal, isSealSubject, type SealDraft, type StoredSeal, signSeal } from "./seal.ts";
import type { SealKey } from "./seal-key.ts";
import { LogRolledBack, type SealObserver } from "./seal-observer.ts";
import type { SealedLog } from "./sealed-log.ts";

export type SealerSetup = {
  readonly log: EventLog;
  readonly sealedLog: SealedLog;
  readonly key: SealKey;
  readonly observers: readonly SealObserver[];
  readonly everyEvents: number;
  /** An event waits at most so long for its seal. */
  readonly everyMs: number;
  readonly now: () => Instant;
  /** An observer could not be told, or asked: nothing waits for it. */
  readonly report: (failure: unknown) => void;
};

export interface Sealer {
  /**
   * Reads what was appended since the last time, and seals whatever is due. Any number of processes may do so: the
   * subject of the seals is guarded, one of them is stored and the others go on after it. Throws LogRolledBack.
   */
  sealWhatIsDue(): Promise<void>;
  /** Seals everything that is in the log now, unless that is nothing but seals. */
  sealNow(): Promise<void>;
}

/** What comes after the last seal, hashed as far as it was read. */
type OpenRange = {
  readonly after: StoredSeal | null;
  readonly tree: GrowingTree;
  position: number;
  /** When the first event in it was stored; null while there is nothing but a seal: else each would call for the next. */
  openedAtMs: number | null;
};

/** Reads the log once as it grows, and keeps some forty hashes of it, however long a range is. */
export function createSealer(setup: SealerSetup): Sealer {
  const { sealedLog, everyEvents, everyMs, now } = setup;
  let open: OpenRange | null = null;
  let turn: Promise<void> = Promise.resolve();

  const isFull = ({ tree }: OpenRange): boolean => tree.size() >= everyEvents;
  const isOld = ({ openedAtMs }: OpenRange): boolean =>
    openedAtMs !== null && Date.parse(now()) - openedAtMs >= everyMs;
  const holdsEvents = ({ openedAtMs }: OpenRange): boolean => openedAtMs !== null;

  /** False where somebody else has sealed meanwhile: what was read goes into no seal of ours. */
  const readOn = async (range: OpenRange): Promise<OpenRange | null> => {
    let current = range;
    if (isFull(current)) {
      const next = await sealRange(setup, current);
      if (next === null) return null;
      current = next;
    }
    for await (const batch of sealedLog.messages(current.position, "all")) {
      for (const message of batch) {
        current.tree.add(leafHashOf(message));
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
    turn = turn.catch(() => {}).then(() => work(isDue));
    return turn;
  };

  return { sealWhatIsDue: () => inTurn(isOld), sealNow: () => inTurn(holdsEvents) };
}

async function openAfterLast({ sealedLog, observers, report }: SealerSetup): Promise<OpenRange> {
  await askObservers({ sealedLog, observers, report });
  const last = await sealedLog.lastSeal();
  // Whoever sealed it may have died before it could say so.
  if (last !== null) await informObservers(observers, last, report);
  return openAfter(last);
}

const openAfter = (after: StoredSeal | null): OpenRange => ({
  after,
  tree: createGrowingTree(),
  position: after?.to ?? 0,
  openedAtMs: null,
});

/** Null where another one was faster. */
async function sealRange(setup: SealerSetup, range: OpenRange): Promise<OpenRange | null> {
  const { log, sealedLog, key, observers, now, report } = setup;
  await askObservers(setup);
  const { sealedAt, ...data } = signSeal(draftOf(range, now()), key);
  const { from, to, root } = data;
  const event = { type: "LogSealed", at: sealedAt, data } as const;
  const cause = { actor: "sealer", correlationId: null, causationId: null, traceparent: null };
  const id = `seal/${from}-${to}/${root.slice(0, 16)}`;
  try {
    await log.append(logRef, { id, event, ...cause }, range.after?.sequence ?? 0);
  } catch (failure) {
    if (failure instanceof VersionConflict) return null;
    throw failure;
  }
  // Read and not assumed: where an answer was lost, the same range sealed by another process may stand there.
  const stored = await sealedLog.lastSeal();
  if (stored === null || stored.to !== to) return null;
  await informObservers(observers, stored, report);
  return openAfter(stored);
}

const draftOf = ({ after, tree, position }: OpenRange, sealedAt: Instant): SealDraft => ({
  from: (after?.to ?? 0) + 1,
  to: position,
  count: tree.size(),
  root: tree.root().toString("hex"),
  previous: after === null ? null : digestOfSeal(after),
  sealedAt,
});

type Asked = Pick<SealerSetup, "sealedLog" | "observers" | "report">;

/** Throws LogRolledBack where one of them has seen a seal that the log does not hold. One that is away says nothing. */
export async function askObservers({ sealedLog, observers, report }: Asked): Promise<void> {
  for (const observer of observers) {
    const seen = await observer.last().catch((failure: unknown) => {
      report(failure);
      return null;
    });
    if (seen === null) continue;
    const found = await sealedLog.sealAt(seen.sequence);
    if (found === null) throw new LogRolledBack(observer.name, seen.sequence, "where the log has none");
    if (digestOfSeal(found) !== seen.digest) {
      throw new LogRolledBack(observer.name, seen.sequence, "where the log has another one");
    }
  }
}

async function informObservers(
  observers: readonly SealObserver[],
  seal: StoredSeal,
  report: SealerSetup["report"],
): Promise<void> {
  const seen = { sequence: seal.sequence, digest: digestOfSeal(seal) };
  await Promise.all(observers.map((observer) => observer.remember(seen).catch(report)));
}

/** However many ask for evidence, the log gets no more seals from it than one in so long. */
const atMostEveryMs = 10_000;

/**
 * Has what is in the log up to a sequence sealed now, so that evidence of it is whole; not again so soon after the last
 * seal. Where there is no room for one, or no sense in one, the evidence says that it is not sealed yet.
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
