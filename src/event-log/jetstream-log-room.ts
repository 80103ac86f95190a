import type { JetStreamManager } from "nats";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { createPromisedBytes } from "./jetstream-promised-bytes.ts";
import type { OnStored } from "./jetstream-publish.ts";
import type { LogRoom } from "./log-room.ts";
import { streamName } from "./subjects.ts";

/** What is older is asked again, while whoever wanted to know goes on with what is known. */
const askAgainAfterMs = 1000;
/** What is older than this says nothing: others may have written much since. */
const staleAfterMs = 5000;
const askTimeoutMs = 1500;

/** What a message takes in a stream besides its subject and its data: headers, checksum, lengths. */
const overheadBytes = 200;

const shareForJobs = 0.8;

export type JetStreamLogRoom = LogRoom & {
  /** Tells of a message that this process has stored: it counts before the server is asked again. */
  readonly stored: OnStored;
};

/**
 * By the limit of the stream itself, whether the service has set it or an operator. Asked at most once a second, so
 * that accepting a job costs no question; in between other processes can add what they write in that time.
 */
export async function createJetStreamLogRoom(
  connection: JetStreamConnection,
  prefix: string,
): Promise<JetStreamLogRoom> {
  const stream = streamName(prefix, "JOBS");
  const manager = await connection.nats.jetstreamManager({ checkAPI: false, timeout: askTimeoutMs });
  let known = { bytes: 0, maxBytes: -1, askedAt: Number.NEGATIVE_INFINITY };
  const promised = createPromisedBytes(connection, prefix);
  let storedSince = 0;
  let question: Promise<void> | null = null;

  const ask = async (): Promise<void> => {
    const askedAt = performance.now();
    const storedBefore = storedSince;
    known = { ...(await asking(connection, () => sizeOf(manager, stream))), askedAt };
    // What was stored while the question was on its way may be in the answer or not: it counts twice for a second.
    storedSince -= storedBefore;
  };
  const askOnce = (): Promise<void> => {
    question ??= ask().finally(() => {
      question = null;
    });
    return question;
  };

  return {
    stored: (subject, data) => {
      storedSince += subject.length + data.length + overheadBytes;
    },
    isLeftForJobs: async (recipients) => {
      const ageMs = performance.now() - known.askedAt;
      if (ageMs > staleAfterMs) await askOnce();
      // Nothing is lost if this one fails: soon the answer is stale, and whoever wants to know waits for it.
      else if (ageMs > askAgainAfterMs) askOnce().catch(() => {});
      if (known.maxBytes <= 0) return true;
      promised.watch();
      const isLeft = known.bytes + storedSince + promised.bytes() < known.maxBytes * shareForJobs;
      if (isLeft && recipients !== undefined) promised.expect(recipients);
      return isLeft;
    },
  };
}

async function sizeOf(manager: JetStreamManager, stream: string): Promise<{ bytes: number; maxBytes: number }> {
  const { config, state } = await manager.streams.info(stream);
  return { bytes: state.bytes, maxBytes: config.max_bytes };
}
