import type { Recipient } from "./read-recipients.ts";

/** As many as one job may have. */
const mostRecipients = 1000;
/** What a job may take in all is a megabyte in NATS, some of it for what stands around the recipients. */
const mostBytes = 900_000;

/**
 * Cuts a mailing into jobs, in the order of the file. The same recipients are cut the same way every time, so that a
 * mailing that was interrupted is gone on with where it stopped.
 */
export async function* toChunks(
  recipients: AsyncIterable<Recipient>,
  bytesAround: number,
): AsyncGenerator<readonly Recipient[]> {
  let chunk: Recipient[] = [];
  let bytes = bytesAround;
  for await (const recipient of recipients) {
    const size = Buffer.byteLength(JSON.stringify(recipient)) + 1;
    if (chunk.length > 0 && (chunk.length === mostRecipients || bytes + size > mostBytes)) {
      yield chunk;
      chunk = [];
      bytes = bytesAround;
    }
    chunk.push(recipient);
    bytes += size;
  }
  if (chunk.length > 0) yield chunk;
}
