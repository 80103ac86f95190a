import { createDigestSet } from "./digest-set.ts";

/**
 * The digests of all addresses that are on a list, in the memory of this process. One that was taken off its list may
 * still be among them: who is found here is to be looked up.
 */
export interface SuppressedDigests {
  /** Returns once all is known that was on a list a second before. Throws Unavailable. */
  upToDate(): Promise<void>;
  mayHave(digest: string): boolean;
  /** How many there are, those that were taken off a list meanwhile included. */
  size(): number;
}

/** What is written into the lists of all tenants, in one order. Both questions throw Unavailable. */
export interface SuppressionEntries {
  /** Which lists these are and how far they have come: `createdAt` changes when they were made anew. */
  state(): Promise<{ readonly createdAt: string; readonly lastSequence: number }>;
  /** Tells the digest of every entry after a sequence, up to those that stand there now. */
  readAfter(sequence: number, tell: (digest: string) => void): Promise<void>;
  /** Tells that of an entry the moment it is written; a hint that can be lost. */
  onEntry(tell: (digest: string) => void): () => void;
}

/** By the monotonic clock, which goes on while a process is stopped. */
const promisedMs = 1000;
const freshForMs = promisedMs / 2;

/**
 * Hears of each entry, and as that is a hint, whoever asks has it asked how far the lists are, twice a second at most,
 * and what is missing read. So it costs nothing while nobody asks, and who asks first waits until everything was read.
 */
export function createSuppressedDigests(entries: SuppressionEntries): SuppressedDigests & { stop(): void } {
  let digests = createDigestSet();
  let known = { createdAt: "", sequence: 0 };
  let completeAt = Number.NEGATIVE_INFINITY;
  let catchingUp: Promise<void> | null = null;
  const tell = (digest: string): void => digests.add(digest);

  const catchUp = async (): Promise<void> => {
    const askedAt = performance.now();
    const { createdAt, lastSequence } = await entries.state();
    if (createdAt !== known.createdAt || lastSequence < known.sequence) {
      // Other lists than those that were read: somebody has brought back old ones, or begun anew.
      digests = createDigestSet();
      known = { createdAt, sequence: 0 };
    }
    if (lastSequence > known.sequence) {
      await entries.readAfter(known.sequence, tell);
      known = { createdAt, sequence: lastSequence };
    }
    completeAt = askedAt;
  };
  const ageMs = (): number => performance.now() - completeAt;
  const stop = entries.onEntry(tell);

  return {
    upToDate: async () => {
      if (ageMs() < freshForMs) return;
      // What others wait for may have been asked too long ago, and what came first may have taken its time.
      do {
        catchingUp ??= catchUp().finally(() => {
          catchingUp = null;
        });
        await catchingUp;
      } while (ageMs() >= promisedMs);
    },
    mayHave: (digest) => digests.mayHave(digest),
    size: () => digests.size(),
    stop,
  };
}
