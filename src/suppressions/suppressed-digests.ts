/**
 * The digests of all suppressed addresses, in the memory of this process. They can include addresses that were removed
 * from their list since, so a match has to be looked up in the store.
 */
export interface SuppressedDigests {
  /** Returns once every address is known that was on a list a second ago. Throws Unavailable. */
  upToDate(): Promise<void>;
  mayHave(digest: string): boolean;
  /** The number of digests, including those removed from a list meanwhile. */
  size(): number;
}

/** The entries of the lists of all tenants, in one order. `state` and `readAfter` throw Unavailable. */
export interface SuppressionEntries {
  /** Identifies the lists and their last entry: `createdAt` changes when they are created anew. */
  state(): Promise<{ readonly createdAt: string; readonly lastSequence: number }>;
  /** Calls back with the digest of every entry after a sequence, up to the current end. */
  readAfter(sequence: number, onDigest: (digest: string) => void): Promise<void>;
  /** Calls back with the digest of each entry as it is written; a call can be lost. */
  onEntry(onDigest: (digest: string) => void): () => void;
}

/** Measured with the monotonic clock, which goes on while a process is suspended. */
const promisedMs = 1000;
const freshForMs = promisedMs / 2;

/**
 * Receives each entry as it is written. Because such a message can be lost, `upToDate` also asks for the last sequence of
 * the lists, at most twice a second, and reads what is missing. So it costs nothing while no mail is sent, and the first
 * call waits until everything has been read.
 */
export function createSuppressedDigests(entries: SuppressionEntries): SuppressedDigests & { stop(): void } {
  let digests = createDigestSet();
  let known = { createdAt: "", sequence: 0 };
  let completeAt = Number.NEGATIVE_INFINITY;
  let catchingUp: Promise<void> | null = null;
  const add = (digest: string): void => digests.add(digest);

  const catchUp = async (): Promise<void> => {
    const askedAt = performance.now();
    const { createdAt, lastSequence } = await entries.state();
    if (createdAt !== known.createdAt || lastSequence < known.sequence) {
      // These are not the lists that were read before: they were restored from a backup, or created anew.
      digests = createDigestSet();
      known = { createdAt, sequence: 0 };
    }
    if (lastSequence > known.sequence) {
      await entries.readAfter(known.sequence, add);
      known = { createdAt, sequence: lastSequence };
    }
    completeAt = askedAt;
  };
  const ageMs = (): number => performance.now() - completeAt;
  const stop = entries.onEntry(add);

  return {
    upToDate: async () => {
      if (ageMs() < freshForMs) return;
      // The request that is under way may have begun too long ago, or taken too long.
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

/** A set of digests, by their first 64 bits, in 12 to 24 bytes of memory each. Nothing is ever removed from it. */
export type DigestSet = {
  /** The digest in base64url, of at least 8 bytes. */
  add(digest: string): void;
  /** True for every digest that was added; with a million of them, also for one in 10^13 others by chance. */
  mayHave(digest: string): boolean;
  size(): number;
};

const firstSlots = 1024;
const fullAt = 2 / 3;

/** Open addressing in one array of numbers: a Set of a million strings takes ten times as much. */
export function createDigestSet(): DigestSet {
  let slots = new Uint32Array(2 * firstSlots);
  let size = 0;

  /** The slot that holds the digest, or the empty one where it belongs. An empty slot is all zeros. */
  const slotOf = (low: number, high: number): number => {
    const last = slots.length / 2 - 1;
    let slot = low & last;
    while (slots[2 * slot] !== 0 || slots[2 * slot + 1] !== 0) {
      if (slots[2 * slot] === low && slots[2 * slot + 1] === high) break;
      slot = (slot + 1) & last;
    }
    return 2 * slot;
  };
  const put = (low: number, high: number): void => {
    const place = slotOf(low, high);
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
      // The second half of an empty slot is zero.
      return slots[slotOf(low, high) + 1] === high;
    },
    size: () => size,
  };
}

/** Digests are uniform and need no hashing. The second half is made odd, so that no digest looks like an empty slot. */
function halvesOf(digest: string): readonly [low: number, high: number] {
  const bytes = Buffer.from(digest, "base64url");
  return [bytes.readUInt32LE(0), (bytes.readUInt32LE(4) | 1) >>> 0];
}
