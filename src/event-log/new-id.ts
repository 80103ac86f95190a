import { randomBytes } from "node:crypto";
import { v7 } from "uuid";

const bytesOfId = 16;
const idsAtOnce = 256;

let random: Buffer = Buffer.alloc(0);
let msecs = 0;
let seq = 0;

/**
 * The id of something that the log tells of, such as a job: a UUID of version 7. Those of one process sort in the order in
 * which they were made. The package makes the same without options, and fetches randomness for each one.
 */
export function newId(): string {
  if (random.length === 0) random = randomBytes(bytesOfId * idsAtOnce);
  const own = random.subarray(0, bytesOfId);
  random = random.subarray(bytesOfId);
  const now = Date.now();
  // Half of the range is left for those of the same millisecond.
  seq = now > msecs ? own.readUInt32BE() >>> 1 : seq + 1;
  msecs = Math.max(msecs, now);
  return v7({ random: own, msecs, seq });
}
