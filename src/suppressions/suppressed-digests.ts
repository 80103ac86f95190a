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

/** Digests, by their first 64 bits, in 12 to 24 bytes of memory each. One is never taken out again. */
export type DigestSet = {
  /** As suppressions are named: base64url of at least 8 bytes. */
  add(digest: string): void;
  /** True for every one that was added, and by chance for one of 10^13 others where a million were. */
  mayHave(digest: string): boolean;
  size(): number;
};

const firstSlots = 1024;
const fullAt = 2 / 3;

/** Open addressing in one array of numbers: a Set of a million strings takes ten times as much. */
export function createDigestSet(): DigestSet {
  let slots = new Uint32Array(2 * firstSlots);
  let size = 0;

  /** Where it stands, or where it would be put. A slot of zeros is empty. */
  const placeOf = (low: number, high: number): number => {
    const last = slots.length / 2 - 1;
    let slot = low & last;
    while (slots[2 * slot] !== 0 || slots[2 * slot + 1] !== 0) {
      if (slots[2 * slot] === low && slots[2 * slot + 1] === high) break;
      slot = (slot + 1) & last;
    }
    return 2 * slot;
  };
  const put = (low: number, high: number): void => {
    const place = placeOf(low, high);
    if (slots[place] === low && slots[place + 1] === high) return;
    slots[place] = low;
    slots[place + 1] = high;
    size += 1;
  };
  const grow = (): void => {
    const before = slots;
    slots = new Uint32Array(2 * before.length);
    size = 0;
    for (let place = 0; place < before.length; place += 2) {
      const [low = 0, high = 0] = [before[place], before[place + 1]];
      if (low !== 0 || high !== 0) put(low, high);
    }
  };

  return {
    add: (digest) => {
      put(...halvesOf(digest));
      if (size > (slots.length / 2) * fullAt) grow();
    },
    mayHave: (digest) => {
      const [low, high] = halvesOf(digest);
      // An empty slot has a zero there.
      return slots[placeOf(low, high) + 1] === high;
    },
    size: () => size,
  };
}

/** Digests are even by nature and need no hash. The second half is odd, so that no digest looks like an empty slot. */
function halvesOf(digest: string): readonly [low: number, high: number] {
  const bytes = Buffer.from(digest, "base64url");
  return [bytes.readUInt32LE(0), (bytes.readUInt32LE(4) | 1) >>> 0];
}
