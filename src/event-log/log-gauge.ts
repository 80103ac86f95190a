import type { Instant } from "../domain/message.ts";

export type LogSize = {
  readonly lastSequence: number;
  readonly bytes: number;
  /** Null where the log has no limit. */
  readonly maxBytes: number | null;
};

/** What a stream holds, and where it ends; null for no limit. */
export type StreamSize = {
  readonly name: string;
  readonly messages: number;
  readonly bytes: number;
  /** Of the first message that is left, and of the last that was ever stored; 0 before the first. */
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly maxBytes: number | null;
  readonly maxMessages: number | null;
  readonly maxAgeSeconds: number | null;
  readonly replicas: number;
};

/**
 * A durable reader of the log: what waits for it, what it has in hand, and what was handed out more than once. Null where
 * NATS tells a number that cannot be.
 */
export type ConsumerLoad = {
  readonly name: string;
  readonly stream: string;
  readonly pending: number | null;
  readonly ackPending: number | null;
  readonly redelivered: number | null;
};

/** For people who watch the log: how large it is and who is behind. Every method throws Unavailable. */
export interface LogGauge {
  size(): Promise<LogSize>;
  consumers(): Promise<readonly ConsumerLoad[]>;
  /** When the first event after a sequence was stored; null where there is none yet. */
  storedAfter(sequence: number): Promise<Instant | null>;
}
