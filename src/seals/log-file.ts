import { createReadStream } from "node:fs";
import type { LogMessage } from "../event-log/log-message.ts";
import type { LogSource } from "./check.ts";
import { isSealSubject } from "./seal.ts";

export const logFileFormat = "waybill-log/1";

/** The first line of an export. It lets a reader notice a truncated file; seals do not cover it. */
export type LogFileHead = { readonly format: typeof logFileFormat; readonly lastSequence: number };

/** The file is not an export of a log, or an incomplete one. */
export class NotALogFile extends Error {
  override readonly name = "NotALogFile";
}

/** One message per line, with its headers if they are given. A body that is not UTF-8 (Waybill writes none) is encoded as base64. */
export function toLine({ sequence, storedAt, subject, body, headers }: LogMessage & { headers?: string }): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = bytes.toString("utf8");
  const form = Buffer.from(text).equals(bytes) ? { body: text } : { bodyBase64: bytes.toString("base64") };
  return JSON.stringify({ sequence, storedAt, subject, headers, ...form });
}

const batchSize = 1000;

/** Reads an export line by line, from the start on every call. */
export const openLogFile = (path: string): LogSource => ({
  messages: async function* (afterSequence, which) {
    let batch: LogMessage[] = [];
    let number = 0;
    for await (const line of linesOf(path)) {
      number += 1;
      if (number === 1) {
        readHead(path, line);
        continue;
      }
      const message = readLine(line, path, number);
      // In the order of the file, so that the verifier can see if it differs from that of the log.
      if (message.sequence <= afterSequence || (which === "seals" && !isSealSubject(message.subject))) continue;
      batch.push(message);
      if (batch.length < batchSize) continue;
      yield batch;
      batch = [];
    }
    if (number === 0) throw new NotALogFile(`${path} is empty; expected an export of "waybill log export"`);
    if (batch.length > 0) yield batch;
  },
});

/** The first line of the file, with the last sequence of the log when the export began. */
export async function headOfLogFile(path: string): Promise<LogFileHead> {
  for await (const line of linesOf(path)) return readHead(path, line);
  throw new NotALogFile(`${path} is empty; expected an export of "waybill log export"`);
}

/** Whether a file claims to be an export, judged by its beginning only. */
export const claimsToBeLogFile = (start: string): boolean => start.startsWith(`{"format":"${logFileFormat}"`);

function readHead(path: string, line: string): LogFileHead {
  try {
    const head: LogFileHead = JSON.parse(line);
    if (head.format === logFileFormat && Number.isSafeInteger(head.lastSequence)) return head;
  } catch {
    // Reported below.
  }
  throw new NotALogFile(
    `${path} begins with no {"format":"${logFileFormat}"}; expected an export of "waybill log export"`,
  );
}

/**
 * With a line feed in a subject, the rest could pass as the body of another message with the same leaf. NATS takes everything
 * else, also from other programs, and what stands in the log can be neither removed nor left out.
 */
const isSubject = (text: unknown): boolean => typeof text === "string" && text !== "" && !text.includes("\n");

function readLine(line: string, path: string, number: number): LogMessage {
  const message = readMessage(line);
  if (message !== null) return message;
  throw new NotALogFile(`Line ${number} of ${path} is no message of a log: it was altered, or the file was cut there`);
}

/** A message as `toLine` wrote it, with no headers where none were written; null if the line is none. */
export function readMessage(line: string): (LogMessage & { readonly headers: string }) | null {
  try {
    const { sequence, storedAt, subject, headers = "", body, bodyBase64 } = JSON.parse(line);
    const bytes = typeof body === "string" ? Buffer.from(body) : Buffer.from(bodyBase64, "base64");
    const isWhole = Number.isSafeInteger(sequence) && sequence > 0 && /^\d{1,20}$/.test(storedAt) && isSubject(subject);
    return isWhole ? { sequence, storedAt, subject, headers, body: bytes } : null;
  } catch {
    return null;
  }
}

const lineFeed = 0x0a;

/** The lines of a file, split at line feeds only: Node's readline also splits at characters that JSON does not escape. */
export async function* linesOf(path: string): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  for await (const chunk of createReadStream(path, { highWaterMark: 262_144 }) as AsyncIterable<Buffer>) {
    let begin = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, begin)) {
      const part = chunk.subarray(begin, end);
      yield rest.length === 0 ? part.toString("utf8") : Buffer.concat([...rest, part]).toString("utf8");
      rest = [];
      begin = end + 1;
    }
    if (begin < chunk.length) rest.push(chunk.subarray(begin));
  }
  if (rest.length > 0) yield Buffer.concat(rest).toString("utf8");
}
