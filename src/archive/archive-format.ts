import { hash } from "node:crypto";
import type { LogArchived } from "../domain/log/events.ts";
import type { JobRef } from "../event-log/event-log.ts";
import type { LogMessage } from "../event-log/log-message.ts";

/**
 * A file of the archive, as src/archive/README.md specifies it: a first line, blocks of compressed lines, an index of
 * jobs, a line that describes all of it, and a line of fixed length that says where that one begins.
 */
export const archiveFormat = "waybill-archive/1";
export const firstLine = `${archiveFormat}\n`;

/** An entry of the log as it was stored; headers in their wire form. */
export type ArchivedEntry = LogMessage & { readonly headers: string };

/** A file as the log records it. */
export type ArchivedFile = LogArchived["data"];

export type Block = {
  readonly offset: number;
  readonly length: number;
  /** The first and the last sequence in it. */
  readonly first: number;
  readonly last: number;
  readonly count: number;
};

export type Description = {
  readonly format: typeof archiveFormat;
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly root: string;
  readonly index: { readonly offset: number; readonly records: number };
  readonly blocks: readonly Block[];
};

const placeDigits = 16;
/** The last line: the place of the description, in digits of a fixed number. */
export const lastLineBytes = placeDigits + 1;
export const lastLineOf = (place: number): string => `${String(place).padStart(placeDigits, "0")}\n`;

export const nameOfFile = (from: number, to: number): string => `log-${padded(from)}-${padded(to)}.waybill`;

const padded = (sequence: number): string => String(sequence).padStart(12, "0");

/** Twelve bytes of the SHA-256 of tenant and id: two of ten million jobs share them once in 10^15 archives. */
export const digestBytes = 12;

export const digestOfJob = ({ tenant, jobId }: JobRef): Buffer =>
  hash("sha256", `${tenant}\n${jobId}`, "buffer").subarray(0, digestBytes);

/** A digest and a number of four bytes: of a block in a file, of a file in the index of all. */
export const recordBytes = digestBytes + 4;

export function toRecord(digest: Buffer, number: number): Buffer {
  const record = Buffer.alloc(recordBytes);
  digest.copy(record);
  record.writeUInt32BE(number, digestBytes);
  return record;
}

/** The numbers in the records of a digest, in ascending order; the records are sorted. */
export function numbersIn(records: Buffer, digest: Buffer): readonly number[] {
  const numbers: number[] = [];
  for (let at = firstOf(records, digest); at + recordBytes <= records.length; at += recordBytes) {
    if (records.compare(digest, 0, digestBytes, at, at + digestBytes) !== 0) break;
    numbers.push(records.readUInt32BE(at + digestBytes));
  }
  return numbers;
}

/** Where the first record is that is not less than the digest. */
function firstOf(records: Buffer, digest: Buffer): number {
  let [low, high] = [0, Math.floor(records.length / recordBytes)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const at = middle * recordBytes;
    if (records.compare(digest, 0, digestBytes, at, at + digestBytes) < 0) low = middle + 1;
    else high = middle;
  }
  return low * recordBytes;
}
