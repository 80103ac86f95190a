import type { JetStreamConnection } from "../nats/connection.ts";
import { decodeMessage } from "./decode-envelope.ts";
import type { WaybillEvent } from "./event-log.ts";
import { channelFilter } from "./subjects.ts";

/**
 * What jobs that were accepted are still to write, about. Known from what goes over the wire while somebody watches,
 * whichever process accepted them; forgotten where the connection was lost, and with it perhaps the news of an end.
 */
export type PromisedBytes = {
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

export function createPromisedBytes(connection: JetStreamConnection, prefix: string): PromisedBytes {
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
