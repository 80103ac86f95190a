import { hash } from "node:crypto";

/** One message of the log as it is stored, before anybody reads an event into it. */
export type LogMessage = {
  readonly sequence: number;
  /** When NATS stored it: nanoseconds since 1970, as decimal digits, as no number holds so many. */
  readonly storedAt: string;
  readonly subject: string;
  readonly body: Uint8Array;
};

const mark = "\0waybill.log.v1\n";

let scratch = Buffer.alloc(65_536);

/**
 * The leaf of a message in the tree of its range (see src/seals/README.md): its place, when it was stored, its
 * subject and its body, each of which would be another leaf if it were changed. A body goes last, so it may hold anything;
 * nothing before it can hold a line feed.
 */
export function leafHashOf({ sequence, storedAt, subject, body }: LogMessage): Buffer {
  const head = `${mark}${sequence}\n${storedAt}\n${subject}\n`;
  const needed = head.length * 3 + body.length;
  if (scratch.length < needed) scratch = Buffer.alloc(needed * 2);
  const begin = scratch.write(head, 0, "utf8");
  scratch.set(body, begin);
  return hash("sha256", scratch.subarray(0, begin + body.length), "buffer");
}
