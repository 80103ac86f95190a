import type { ResultChunk } from "./result-store.ts";

const lineFeed = 0x0a;

/** What goes before the bytes of a piece, with room for the longest cursor. */
export const overheadOfChunk = 1024;

/** A line of JSON that describes the piece, then its bytes. */
export const encodeChunk = ({ bytes, ...description }: ResultChunk): Uint8Array =>
  Buffer.concat([Buffer.from(`${JSON.stringify(description)}\n`), bytes]);

export function decodeChunk(stored: Uint8Array): ResultChunk {
  const end = stored.indexOf(lineFeed);
  const description: Omit<ResultChunk, "bytes"> = JSON.parse(Buffer.from(stored.subarray(0, end)).toString());
  return { ...description, bytes: stored.subarray(end + 1) };
}
