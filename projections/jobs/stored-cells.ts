/**
 * A ledger as the database holds it: a byte for each recipient. The lower bits are its cell (see
 * src/domain/recipients/ledger.ts), the highest one says that it has a row in `recipients`.
 */
const rowBit = 0x80;

export const toStoredCells = (cells: Uint8Array, hasRow: Uint8Array): Buffer =>
  Buffer.from(cells.map((value, recipient) => (hasRow[recipient] === 1 ? value | rowBit : value)));

// The driver's buffer is a view of the packet; the fold needs an array of its own. (`from` with a function takes ten
// times as long as `map`.)
export const cellsIn = (stored: Uint8Array): Uint8Array => new Uint8Array(stored).map((value) => value & ~rowBit);

/** 1 for each recipient that has a row. */
export const rowsIn = (stored: Uint8Array): Uint8Array => new Uint8Array(stored).map((value) => value >> 7);
