import { setTimeout as pause } from "node:timers/promises";
import { deflateSync, inflateSync } from "node:zlib";
import type { CheckpointStore, StoredCheckpoint } from "./checkpoint-store.ts";

/** Everything up to the sequence is done, in the log that was created at that time. */
export type Position = {
  readonly sequence: number;
  readonly logCreatedAt: string;
  /** What the listener that has come so far has to know of what is before, see Listener. */
  readonly unfinished?: readonly string[];
};

/** A checkpoint that this process alone may move, as long as it holds it. */
export type HeldCheckpoint = {
  /** Null before anything was done. */
  readonly found: Position | null;
  /** Asked from now on whenever the checkpoint is written: with each renewal, and at the release. */
  track(current: () => Position): void;
  /** Whether it is still held, also right after the process stood still. */
  isHeld(): boolean;
  /** Aborts when it is no longer held. */
  readonly lost: AbortSignal;
  /** Why it could not be written when it was lost; null where it is held, or another process has it. */
  failure(): unknown;
  /** Another process may take it at once. */
  release(): Promise<void>;
};

const renewEveryMs = 1000;
/** A holder that cannot renew stops in time before another process takes over, whatever their clocks say. */
const givenUpAfterMs = 2500;
const abandonedAfterMs = 3500;
const lookEveryMs = 1000;

/**
 * Waits until no other process holds the checkpoint, and takes it; null once the signal aborts. Its text names the holder,
 * who writes it anew every second, and with it how far it has come: so a crash repeats about a second. A text that stays
 * the same for `abandonedAfterMs` belongs to a holder that died, or stands still, and is taken over. Every write names the
 * revision before, so of two processes one succeeds, and a holder that stood still finds its checkpoint taken.
 */
export async function holdCheckpoint(
  store: CheckpointStore,
  name: string,
  holder: string,
  signal: AbortSignal,
): Promise<HeldCheckpoint | null> {
  let seen = { revision: -1, atMs: 0 };
  while (!signal.aborted) {
    const stored = await store.read(name);
    const { revision } = stored ?? { revision: 0 };
    if (revision !== seen.revision) seen = { revision, atMs: performance.now() };
    const { holder: other, position } = entryOf(stored);
    // A taking whose answer was lost was ours.
    const isFree = other === null || other === holder;
    const leftMs = isFree ? 0 : seen.atMs + abandonedAfterMs - performance.now();
    if (leftMs > 0) {
      await pause(Math.min(lookEveryMs, leftMs), undefined, { signal }).catch(() => {});
      continue;
    }
    const takenAtMs = performance.now();
    const taken = await store.write(name, textOf({ holder, position }), revision);
    if (taken !== null) return keepRenewing({ store, name, holder }, position, taken, takenAtMs);
  }
  return null;
}

type Holding = { readonly store: CheckpointStore; readonly name: string; readonly holder: string };

function keepRenewing({ store, name, holder }: Holding, found: Position | null, taken: number, takenAtMs: number) {
  const lost = new AbortController();
  const released = new AbortController();
  let current = (): Position | null => found;
  let revision = taken;
  let renewedAtMs = takenAtMs;
  let failure: unknown = null;

  const isHeld = (): boolean => !lost.signal.aborted && performance.now() - renewedAtMs < givenUpAfterMs;
  const write = async (nextHolder: string | null): Promise<void> => {
    const begunAtMs = performance.now();
    const written = await store.write(name, textOf({ holder: nextHolder, position: current() }), revision);
    if (written !== null) {
      revision = written;
      renewedAtMs = begunAtMs;
      return;
    }
    const stored = await store.read(name);
    if (entryOf(stored).holder !== holder) return lost.abort();
    // The answer to an earlier renewal was lost; the next one knows its revision.
    revision = stored?.revision ?? 0;
  };
  const renew = async (): Promise<void> => {
    while (!released.signal.aborted) {
      await pause(renewEveryMs, undefined, { signal: released.signal }).catch(() => {});
      if (released.signal.aborted) return;
      const found = await write(holder).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      if (isHeld()) continue;
      failure = found;
      return lost.abort();
    }
  };
  const renewing = renew();

  return {
    found,
    track: (asked: () => Position) => {
      current = asked;
    },
    isHeld,
    lost: lost.signal,
    failure: () => failure,
    release: async () => {
      released.abort();
      await renewing;
      // Without an answer, others wait as after a crash.
      if (isHeld()) await write(null).catch(() => {});
    },
  };
}

type Entry = { readonly holder: string | null; readonly position: Position | null };

/** A checkpoint is one message of NATS, of at most a megabyte: twenty thousand ids of open mailings would be more. */
const packedFrom = 100_000;
const packed = "deflate:";

/** Packed, some forty thousand ids fit in, however long the names of their tenants are. */
function textOf(entry: Entry): string {
  const text = JSON.stringify(entry);
  return text.length < packedFrom ? text : packed + deflateSync(text, { level: 1 }).toString("base64");
}

const unpacked = (text: string): string =>
  text.startsWith(packed) ? inflateSync(Buffer.from(text.slice(packed.length), "base64")).toString() : text;

/** How far a listener has come, by the text of its checkpoint; null if nothing was done. */
export const positionIn = (text: string): Position | null => entryOf({ revision: 0, text }).position;

/** An entry that was deleted, or is none, counts as one that was never made. */
function entryOf(stored: StoredCheckpoint | null): Entry {
  try {
    const { holder, position } = JSON.parse(unpacked(stored?.text ?? "")) as Partial<Entry>;
    const isPosition = typeof position?.sequence === "number" && typeof position.logCreatedAt === "string";
    return { holder: typeof holder === "string" ? holder : null, position: isPosition ? position : null };
  } catch {
    return { holder: null, position: null };
  }
}
