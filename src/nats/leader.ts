import { setTimeout as pause } from "node:timers/promises";
import type { JetStreamConnection } from "./connection.ts";
import { byStream } from "./node-judgement.ts";

/** The leader of a stream as this process reaches it. */
export type Leader = {
  /** When it was asked, by the monotonic clock. */
  readonly askedAt: number;
  /** Whether it had a majority of the replicas then; false where it does not say so soon. */
  readonly hasMajority: Promise<boolean>;
};

/**
 * For so long after a leader with a majority was asked, no other one can have been elected: NATS waits for 4 s at least
 * after a leader's last word, and a replica counts as seen for 2.5 s.
 */
export const leadsForMs = 1500;
const askAgainAfterMs = 500;
/** A read waits for this as well, and its caller for several reads. */
const answersWithinMs = 600;

/** By connection and stream, as it was asked last. */
const asked = new WeakMap<JetStreamConnection, Map<string, Leader>>();

/** Asks the leader, unless it was asked a moment ago. Call it before a read, so that the question is sent before that. */
export function askLeader(connection: JetStreamConnection, stream: string): Leader {
  const ofStreams = asked.get(connection) ?? new Map<string, Leader>();
  asked.set(connection, ofStreams);
  const before = ofStreams.get(stream);
  const now = performance.now();
  if (before !== undefined && now - before.askedAt < askAgainAfterMs) return before;
  const hasMajority = Promise.race([byStream(stream)(connection.nats), pause(answersWithinMs, false, { ref: false })]);
  const leader = { askedAt: now, hasMajority };
  ofStreams.set(stream, leader);
  return leader;
}
