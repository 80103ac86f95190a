import { setTimeout as pause } from "node:timers/promises";
import { Unavailable } from "../domain/unavailable.ts";
import { asking, isClustered, type JetStreamConnection } from "./connection.ts";
import { currentLastMessageOf, messageAt, type StreamMessage } from "./jetstream-api.ts";
import { firstSequenceOf } from "./read-subject.ts";

/** By connection and stream, the highest sequence that this process has seen stored. */
const seen = new WeakMap<JetStreamConnection, Map<string, number>>();

const patienceMs = 1500;
const askAgainAfterMs = 100;

/** Records a stored message: from then on, no answer may show this process a state before it. */
export function sawStored(connection: JetStreamConnection, stream: string, sequence: number): void {
  let ofStreams = seen.get(connection);
  if (ofStreams === undefined) {
    ofStreams = new Map();
    seen.set(connection, ofStreams);
  }
  if (sequence > (ofStreams.get(stream) ?? 0)) ofStreams.set(stream, sequence);
}

/** Up to where this process knows that the stream goes; 0 where it has seen nothing of it. */
export const seenUpTo = (connection: JetStreamConnection, stream: string): number =>
  seen.get(connection)?.get(stream) ?? 0;

/**
 * The last message of a subject, from a leader that has a majority and everything that this process has seen stored: a
 * new leader may answer before it has applied all its entries. So in a cluster, the message at the last sequence seen is
 * requested in the same write, and before: a deposed leader does not become the leader in between.
 */
export async function lastMessageSince(
  connection: JetStreamConnection,
  stream: string,
  subject: string,
): Promise<StreamMessage | null> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const horizon = seenUpTo(connection, stream);
    const [isThere, last] = await asking(connection, () =>
      Promise.all([
        horizon === 0 || !isClustered(connection) || messageAt(connection, stream, horizon),
        currentLastMessageOf(connection, stream, subject),
      ]),
    );
    if (isThere !== null || horizon < (await firstSequenceOf(connection, stream))) {
      if (last !== null) sawStored(connection, stream, last.sequence);
      return last;
    }
    if (performance.now() >= deadline) {
      throw new Unavailable(`The leader of ${stream} lacks the message at ${horizon}, which was stored.`);
    }
    await pause(askAgainAfterMs);
  }
}
