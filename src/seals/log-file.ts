import { createReadStream } from "node:fs";
import type { LogMessage } from "../event-log/log-message.ts";
import type { LogSource } from "./check.ts";
import { isSealSubject } from "./seal.ts";

export const logFileFormat = "waybill-log/1";

/** The first line of an export. What it says is for people and programs that look for a cut; no seal speaks of it. */
export type LogFileHead = { readonly format: typeof logFileFormat; readonly lastSequence: number };

/** The file is no export of a log, or not a whole one. */
export class NotALogFile extends Error {
  override readonly name = "NotALogFile";
}

/** One message a line. A body that is no UTF-8, which none of ours is, goes as base64. */
export function toLine({ sequence, storedAt, subject, body }: LogMessage): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = bytes.toString("utf8");
  const form = Buffer.from(text).equals(bytes) ? { body: text } : { bodyBase64: bytes.toString("base64") };
  return JSON.stringify({ sequence, storedAt, subject, ...form });
}

const batchSize = 1000;

/** Reads an export line by line, as often as it is asked. */
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
      // In the order of the file: that it is another one than that of the log is for the reader to see.
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

/** How far the log had come when the export was begun. */
export async function headOfLogFile(path: string): Promise<LogFileHead> {
  for await (const line of linesOf(path)) return readHead(path, line);
  throw new NotALogFile(`${path} is empty; expected an export of "waybill log export"`);
}

/** Whether a file claims to be an export: its first line is looked at, and no more. */
export const claimsToBeLogFile = (start: string): boolean => start.startsWith(`{"format":"${logFileFormat}"`);

function readHead(path: string, line: string): LogFileHead {
  try {
    const head: LogFileHead = JSON.parse(line);
    if (head.format === logFileFormat && Number.isSafeInteger(head.lastSequence)) return head;
  } catch {
    // Said below.
  }
  throw new NotALogFile(
    `${path} begins with no {"format":"${logFileFormat}"}; expected an export of "waybill log export"`,
  );
}

/** With a line feed in a subject, what follows could be taken for the body of another message with the same leaf. */
const isSubject = (text: unknown): boolean => typeof text === "string" && /^[!-~]+$/.test(text);

function readLine(line: string, path: string, number: number): LogMessage {
  try {
    const { sequence, storedAt, subject, body, bodyBase64 } = JSON.parse(line);
    const bytes = typeof body === "string" ? Buffer.from(body) : Buffer.from(bodyBase64, "base64");
    const isWhole = Number.isSafeInteger(sequence) && /^\d{1,20}$/.test(storedAt) && isSubject(subject);
    if (isWhole) return { sequence, storedAt, subject, body: bytes };
  } catch {
    // Said below.
  }
  throw new NotALogFile(`Line ${number} of ${path} is no message of a log: it was altered, or the file was cut there`);
}

const lineFeed = 0x0a;

/** The lines of a file, ended by line feeds alone: readline of Node also splits at characters that JSON leaves as they are. */
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
