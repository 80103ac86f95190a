import { hash } from "node:crypto";
import { checkedBy } from "../schemas/checked-by.ts";
import { type CloudEvent, cloudEvents } from "../schemas/cloud-event.ts";

/** One message of the log as it is stored, before it is decoded into an event. */
export type LogMessage = {
  readonly sequence: number;
  /** When NATS stored it: nanoseconds since 1970, as decimal digits, because a number is not precise enough. */
  readonly storedAt: string;
  readonly subject: string;
  readonly body: Uint8Array;
};

const checkedEnvelopes = checkedBy(cloudEvents);

/** The events of an entry as its bytes say, in any version of their schemas; throws where they cannot be read. */
export function readEnvelopes(body: Uint8Array): readonly CloudEvent[] {
  // A view, not a copy: Buffer decodes short texts several times faster than TextDecoder.
  const bytes = body instanceof Buffer ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return checkedEnvelopes(JSON.parse(bytes.toString("utf8")));
}

const mark = "\0waybill.log.v1\n";

let scratch = Buffer.alloc(65_536);

/**
 * The leaf of a message in the Merkle tree of its range (see src/seals/README.md): its sequence, the time of its
 * storage, its subject and its body. A change of any of them gives another leaf. The body comes last, so it may hold
 * anything; nothing before it can hold a line feed.
 */
export function leafHashOf({ sequence, storedAt, subject, body }: LogMessage): Buffer {
  const head = `${mark}${sequence}\n${storedAt}\n${subject}\n`;
  const needed = head.length * 3 + body.length;
  if (scratch.length < needed) scratch = Buffer.alloc(needed * 2);
  const begin = scratch.write(head, 0, "utf8");
  scratch.set(body, begin);
  return hash("sha256", scratch.subarray(0, begin + body.length), "buffer");
}
