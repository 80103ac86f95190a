import { isJobEnd, type JobEvent } from "../domain/job/events.ts";
import { shareOfAccount } from "../nats/account-share.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { decodeMessage } from "./decode-entry.ts";
import type { StoredEvent } from "./event-log.ts";
import type { OnStored } from "./jetstream-publish.ts";
import type { LogRoom } from "./log-room.ts";
import { isDecision } from "./select-events.ts";
import { streamName, subjectsOfDecisions } from "./subjects.ts";

/** An older answer is refreshed in the background, while the caller goes on with it. */
const askAgainAfterMs = 1000;
/** An answer older than this is useless: other processes may have written much since. */
const staleAfterMs = 5000;
const askTimeoutMs = 1500;

/** The overhead of a message in a stream besides its subject and its data: headers, checksum, lengths. */
const overheadBytes = 200;

const shareForJobs = 0.8;

/**
 * Works from the limit of the stream itself, whether the service or an operator has set it, and from that of the account
 * that it is in, which its contents and turns share. It asks the server at most once a second, so that accepting a job
 * costs no request; in between other processes can add what they write in that time.
 */
export async function createJetStreamLogRoom(
  connection: JetStreamConnection,
  prefix: string,
): Promise<LogRoom & { readonly stored: OnStored }> {
  const stream = streamName(prefix, "JOBS");
  const manager = await connection.nats.jetstreamManager({ checkAPI: false, timeout: askTimeoutMs });
  let known = { bytes: 0, maxBytes: -1, askedAt: Number.NEGATIVE_INFINITY };
  const promised = createPromisedBytes(connection, prefix);
  let storedSince = 0;
  let question: Promise<void> | null = null;
  let shareTaken: number | null = null;

  const askAccount = async (replicas: number): Promise<void> => {
    try {
      shareTaken = shareOfAccount(await manager.getAccountInfo(), replicas);
    } catch {
      shareTaken = null;
    }
  };
  const ask = async (): Promise<void> => {
    const askedAt = performance.now();
    const storedBefore = storedSince;
    const { config, state } = await asking(connection, () => manager.streams.info(stream));
    known = { bytes: state.bytes, maxBytes: config.max_bytes, askedAt };
    // A message stored while the question was in flight may or may not be in the answer: it counts twice for a second.
    storedSince -= storedBefore;
    // Of a cluster this asks another node than those with the log: no job waits for it.
    void askAccount(config.num_replicas);
  };
  const askOnce = (): Promise<void> => {
    question ??= ask().finally(() => {
      question = null;
    });
    return question;
  };

  return {
    /** A message that this process has stored counts before the server is asked again. */
    stored: (subject, data) => {
      storedSince += subject.length + data.length + overheadBytes;
    },
    isLeftForJobs: async (recipients) => {
      const ageMs = performance.now() - known.askedAt;
      if (ageMs > staleAfterMs) await askOnce();
      // A failure here loses nothing: the answer soon becomes stale, and the next caller waits for a new one.
      else if (ageMs > askAgainAfterMs) askOnce().catch(() => {});
      if (shareTaken !== null && shareTaken >= shareForJobs) return false;
      if (known.maxBytes <= 0) return true;
      promised.watch();
      const isLeft = known.bytes + storedSince + promised.bytes() < known.maxBytes * shareForJobs;
      if (isLeft && recipients !== undefined) promised.expect(recipients);
      return isLeft;
    },
  };
}

/** Measured with claims of one recipient each and no deferrals: 2,800 bytes, and 1,600 for each recipient. */
const bytesPerJob = 3000;
const bytesPerRecipient = 1700;
const expectedForMs = 5000;

const bytesOfJob = (recipients: number): number => bytesPerJob + recipients * bytesPerRecipient;

/**
 * An estimate of what accepted jobs will still write. It is derived from the messages on the wire during the watch,
 * whichever process accepted the jobs, and discarded when the connection is lost, because the news of an end may be
 * lost with it.
 */
function createPromisedBytes(connection: JetStreamConnection, prefix: string) {
  const open = new Map<string, number>();
  const expected: { readonly bytes: number; readonly untilMs: number }[] = [];
  let total = 0;
  let isWatching = false;

  const forget = (job: string): void => {
    total -= open.get(job) ?? 0;
    open.delete(job);
  };
  const hear = (job: string, event: JobEvent): void => {
    if (isJobEnd(event)) forget(job);
    if (event.type !== "JobCreated") return;
    forget(job);
    expected.shift();
    const bytes = bytesOfJob(event.data.total);
    open.set(job, bytes);
    total += bytes;
  };

  return {
    /** Counts a job that is about to be accepted until its creation is heard of, or for a few seconds if it is not. */
    expect: (recipients: number): void => {
      expected.push({ bytes: bytesOfJob(recipients), untilMs: performance.now() + expectedForMs });
    },
    bytes: (): number => {
      while (expected[0] !== undefined && expected[0].untilMs < performance.now()) expected.shift();
      return expected.reduce((sum, { bytes }) => sum + bytes, total);
    },
    /** Starts the watch, once. It reads each decision about each job, which is worth the cost only with a limit. */
    watch: (): void => {
      if (isWatching) return;
      isWatching = true;
      connection.nats.subscribe(subjectsOfDecisions(prefix), {
        callback: (_, { subject, data }) => {
          for (const { event } of readDecisions(prefix, subject, data)) hear(subject, event);
        },
      });
      connection.onReconnect(() => {
        open.clear();
        total = 0;
      });
    },
  };
}

/** A message that cannot be read announces no further writes. */
function readDecisions(prefix: string, subject: string, data: Uint8Array): readonly StoredEvent<JobEvent>[] {
  try {
    return decodeMessage(prefix, subject, 0, data).filter(isDecision);
  } catch {
    return [];
  }
}
