import { setTimeout as pause } from "node:timers/promises";
import { Unavailable } from "../domain/unavailable.ts";
import { asking, type JetStreamConnection } from "./connection.ts";
import { lastMessageOf, messageIsThere, type StreamMessage } from "./jetstream-api.ts";

/** By connection and stream, the last place that this process has seen taken. */
const seen = new WeakMap<JetStreamConnection, Map<string, number>>();

const patienceMs = 1500;
const askAgainAfterMs = 100;

/** Whether other servers may hold other parts of the same stream. */
export const isClustered = ({ nats }: JetStreamConnection): boolean => Boolean(nats.info?.cluster);

/** Tells of a message that is stored: nobody may tell this process any more what was before it. */
export function sawStored(connection: JetStreamConnection, stream: string, sequence: number): void {
  let ofStreams = seen.get(connection);
  if (ofStreams === undefined) {
    ofStreams = new Map();
    seen.set(connection, ofStreams);
  }
  if (sequence > (ofStreams.get(stream) ?? 0)) ofStreams.set(stream, sequence);
}

/**
 * The last message of a subject, from a leader that has all that this process has seen stored. A leader that was cut off
 * from the others takes itself for one, and answers with the past, for ten seconds on 2.9.10 and half a second on 2.15.1,
 * while they have another one; and a new leader may answer before it has applied all. So in a cluster the place that was
 * seen last is asked for in the same write, and before: whoever is deposed does not become the leader in between.
 */
export async function lastMessageSince(
  connection: JetStreamConnection,
  stream: string,
  subject: string,
): Promise<StreamMessage | null> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const horizon = seen.get(connection)?.get(stream) ?? 0;
    const [isThere, last] = await asking(connection, () =>
      Promise.all([
        horizon === 0 || !isClustered(connection) || messageIsThere(connection, stream, horizon),
        lastMessageOf(connection, stream, subject),
      ]),
    );
    if (isThere) {
      if (last !== null) sawStored(connection, stream, last.sequence);
      return last;
    }
    if (performance.now() >= deadline) {
      throw new Unavailable(`Whoever leads ${stream} has not what stands at ${horizon}, which was stored.`);
    }
    await pause(askAgainAfterMs);
  }
}
