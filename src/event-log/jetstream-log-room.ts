import type { JetStreamManager } from "nats";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { decodeMessage } from "./decode-envelope.ts";
import type { WaybillEvent } from "./event-log.ts";
import type { OnStored } from "./jetstream-publish.ts";
import type { LogRoom } from "./log-room.ts";
import { channelFilter, streamName } from "./subjects.ts";

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

/**
 * What jobs that were accepted are still to write, about. Known from what goes over the wire while somebody watches,
 * whichever process accepted them; forgotten where the connection was lost, and with it perhaps the news of an end.
 */
type PromisedBytes = {
  /** Begins to watch; again is harmless. Each decision about each job is read here, which only a limit is worth. */
  watch(): void;
  /** Counts a job that is about to be accepted until the next one is heard of, or for a few seconds where it is not. */
  expect(recipients: number): void;
  readonly bytes: () => number;
};

/** Measured with claims of one recipient each: 2,800 bytes and 1,600 for each recipient, where nobody is deferred. */
const bytesPerJob = 3000;
const bytesPerRecipient = 1700;
const expectedForMs = 5000;

const bytesOfJob = (recipients: number): number => bytesPerJob + recipients * bytesPerRecipient;

function createPromisedBytes(connection: JetStreamConnection, prefix: string): PromisedBytes {
  const open = new Map<string, number>();
  const expected: { readonly bytes: number; readonly untilMs: number }[] = [];
  let total = 0;
  let isWatching = false;

  const forget = (job: string): void => {
    total -= open.get(job) ?? 0;
    open.delete(job);
  };
  const hear = (job: string, event: WaybillEvent): void => {
    forget(job);
    if (event.type !== "JobCreated") return;
    expected.shift();
    const bytes = bytesOfJob(event.data.total);
    open.set(job, bytes);
    total += bytes;
  };

  return {
    expect: (recipients) => {
      expected.push({ bytes: bytesOfJob(recipients), untilMs: performance.now() + expectedForMs });
    },
    bytes: () => {
      while (expected[0] !== undefined && expected[0].untilMs < performance.now()) expected.shift();
      return expected.reduce((sum, { bytes }) => sum + bytes, total);
    },
    watch: () => {
      if (isWatching) return;
      isWatching = true;
      connection.nats.subscribe(channelFilter(prefix, "job"), {
        callback: (_, { subject, data }) => {
          const event = readEvent(prefix, subject, data);
          if (event !== null && (event.type === "JobCreated" || ends.has(event.type))) hear(subject, event);
        },
      });
      connection.onReconnect(() => {
        open.clear();
        total = 0;
      });
    },
  };
}

const ends: ReadonlySet<WaybillEvent["type"]> = new Set(["JobCompleted", "JobFailed", "JobCancelled"]);

/** What cannot be read promises nothing. */
function readEvent(prefix: string, subject: string, data: Uint8Array): WaybillEvent | null {
  try {
    const entry = decodeMessage(prefix, subject, 0, data);
    return "event" in entry ? entry.event : null;
  } catch {
    return null;
  }
}
