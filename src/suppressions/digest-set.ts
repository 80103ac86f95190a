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
