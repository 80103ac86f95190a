import { hash } from "node:crypto";

/**
 * The addresses of a mailing, each as the first 16 bytes of a SHA-256 over the mailing and the address: at ten million
 * addresses the chance that two of them share these is one in 10^24, so the set is exact. It takes 16 to 27 bytes an
 * address, outside of the heap.
 */
export type AddressSet = {
  has(key: string): boolean;
  /** False where it is there already. */
  add(key: string): boolean;
  readonly size: number;
  /** Bytes of memory. */
  readonly bytes: number;
};

const digestBytes = 16;
const firstSlots = 16;
const fullest = 0.9;
const growth = 1.5;

/** `mailing` makes the digests of one mailing different from those of any other. */
export function createAddressSet(mailing: string): AddressSet {
  /** By the first byte of a digest. They grow one after the other: growing never takes more memory than one of them. */
  const tables: Table[] = [];
  let size = 0;
  const digestOf = (key: string): Buffer => hash("sha256", `${mailing}\n${key}`, "buffer").subarray(0, digestBytes);
  const tableOf = (digest: Buffer): Table => {
    const first = digest[0] as number;
    tables[first] ??= createTable();
    return tables[first];
  };
  return {
    has: (key) => {
      const digest = digestOf(key);
      return tableOf(digest).has(digest);
    },
    add: (key) => {
      const digest = digestOf(key);
      const isNew = tableOf(digest).add(digest);
      if (isNew) size += 1;
      return isNew;
    },
    get size() {
      return size;
    },
    get bytes() {
      return tables.reduce((sum, table) => sum + table.bytes(), 0);
    },
  };
}

type Table = ReturnType<typeof createTable>;

/** Open addressing: a digest stands in its slot or in one of those after it. A slot of nothing but zeros is free. */
function createTable() {
  let slots = firstSlots;
  let cells = Buffer.alloc(slots * digestBytes);
  let used = 0;

  /** The offset of the digest, or of the free slot where it belongs. */
  const find = (digest: Buffer): number => {
    // The first byte has chosen the table.
    for (let slot = digest.readUInt32LE(4) % slots; ; slot = slot + 1 === slots ? 0 : slot + 1) {
      const at = slot * digestBytes;
      if (isFree(cells, at) || digest.compare(cells, at, at + digestBytes) === 0) return at;
    }
  };
  const grow = (): void => {
    const before = cells;
    slots = Math.ceil(slots * growth);
    cells = Buffer.alloc(slots * digestBytes);
    for (let at = 0; at < before.length; at += digestBytes) {
      if (!isFree(before, at)) before.copy(cells, find(before.subarray(at, at + digestBytes)), at, at + digestBytes);
    }
  };

  return {
    has: (digest: Buffer): boolean => !isFree(cells, find(digest)),
    add: (digest: Buffer): boolean => {
      const at = find(digest);
      if (!isFree(cells, at)) return false;
      digest.copy(cells, at);
      used += 1;
      if (used > slots * fullest) grow();
      return true;
    },
    bytes: (): number => cells.length,
  };
}

/** A digest whose bytes are all zero would be lost; there is none in 10^38. */
const isFree = (cells: Buffer, at: number): boolean =>
  cells.readUInt32LE(at) === 0 &&
  cells.readUInt32LE(at + 4) === 0 &&
  cells.readUInt32LE(at + 8) === 0 &&
  cells.readUInt32LE(at + 12) === 0;
