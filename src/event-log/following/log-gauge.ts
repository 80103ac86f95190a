import type { Instant } from "../../domain/message.ts";

export type LogSize = {
  readonly lastSequence: number;
  readonly bytes: number;
  /** Null where the log has no limit. */
  readonly maxBytes: number | null;
};

/** The contents of a stream, and its last sequence; null for no limit. */
export type StreamSize = {
  readonly name: string;
  readonly messages: number;
  readonly bytes: number;
  /** The sequences of the first message that is left and of the last that was ever stored; 0 before the first. */
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly maxBytes: number | null;
  readonly maxMessages: number | null;
  readonly maxAgeSeconds: number | null;
  readonly replicas: number;
};

/**
 * A listener of the log, or a durable consumer of the turns or of the log: messages waiting for it, messages in flight, and
 * redelivered messages. Null where there is no such number, or NATS reports one that is impossible.
 */
export type ConsumerLoad = {
  readonly name: string;
  readonly stream: string;
  readonly pending: number | null;
  readonly ackPending: number | null;
  readonly redelivered: number | null;
};

/** For monitoring: how large the log is and which consumers are behind. Every method throws Unavailable. */
export interface LogGauge {
  size(): Promise<LogSize>;
  consumers(): Promise<readonly ConsumerLoad[]>;
  /** When the first event after a sequence was stored; null if there is none yet. */
  storedAfter(sequence: number): Promise<Instant | null>;
}
