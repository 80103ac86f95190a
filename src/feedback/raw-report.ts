import { createHash } from "node:crypto";

/** A report as it was received. Only its beginning is kept: see `readBytes`. */
export type RawReport = {
  readonly head: Buffer;
  /** Of the whole report; after `mostBytes` they are not counted further. */
  readonly bytes: number;
  /** SHA-256 (hex) of the whole report, for those who keep it. */
  readonly sha256: string;
};

/**
 * The largest report that is taken: it may enclose the whole mail that it is about. That has up to 5 MiB of attachments, which
 * base64 makes 7.2 MB, and about a megabyte of texts, which quoted-printable makes up to 3 MB. The rest is for the report.
 */
export const maxReportBytes = 12 * 1024 * 1024;

/**
 * So much of a message is looked at: a report comes before the mail that it is about, of which the header is enough. What
 * is left of a bomb is small, and a hundred senders at a time take no more memory than a hundred times this.
 */
export const readBytes = 256 * 1024;

/** Reads a report to its end; what is over `maxReportBytes` is dropped without being looked at. */
export async function receiveReport(chunks: AsyncIterable<Uint8Array>): Promise<RawReport> {
  const kept: Uint8Array[] = [];
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of chunks) {
    if (bytes > maxReportBytes) continue;
    // A chunk can be a view of a larger buffer, which would be kept with it.
    if (bytes < readBytes) kept.push(Uint8Array.prototype.slice.call(chunk, 0, readBytes - bytes));
    bytes += chunk.length;
    hash.update(chunk);
  }
  return { head: Buffer.concat(kept), bytes, sha256: hash.digest("hex") };
}
