import type { Instant } from "../domain/message.ts";

export type LogSize = {
  readonly lastSequence: number;
  readonly bytes: number;
  /** Null where the log has no limit. */
  readonly maxBytes: number | null;
};

/** A durable reader of the log: what waits for it, what it has in hand, and what was handed out more than once. */
export type ConsumerLoad = {
  readonly name: string;
  readonly pending: number;
  readonly ackPending: number;
  readonly redelivered: number;
};

/** For people who watch the log: how large it is and who is behind. Every method throws LogUnavailable. */
export interface LogGauge {
  size(): Promise<LogSize>;
  consumers(): Promise<readonly ConsumerLoad[]>;
  /** When the first event after a sequence was stored; null where there is none yet. */
  storedAfter(sequence: number): Promise<Instant | null>;
}
