import type { LogState } from "../event-log/event-log.ts";
import type { LogMessage } from "../event-log/log-message.ts";
import type { StoredSeal } from "./seal.ts";

/** The log as bytes, and the seals in it. Every method throws Unavailable when the log cannot be reached. */
export interface SealedLog {
  state(): Promise<Pick<LogState, "createdAt" | "lastSequence">>;

  /** The last seal, as the leader has it; null if nothing was sealed yet. */
  lastSeal(): Promise<StoredSeal | null>;

  /** The message at a sequence of the log; null if it is missing. */
  messageAt(sequence: number): Promise<LogMessage | null>;

  /** The seal at a sequence of the log; null if the message there is not a seal, or is missing. */
  sealAt(sequence: number): Promise<StoredSeal | null>;

  /** Whether its messages may come from a copy that is not, or not yet, what the leader has. */
  hasCopies(): boolean;

  /** Whether an operator has decided that readers skip this message, in its present form. */
  isPassed(message: LogMessage): Promise<boolean>;

  /**
   * Every message after a sequence, or only the seals, in order, each once, up to the end that the log had at the call.
   * Batches are never empty. Reconnects for a while after a lost connection. Of a caller that needs nothing after `upTo`, it
   * needs no file of the archive after that either.
   */
  messages(afterSequence: number, which: "all" | "seals", upTo?: number): AsyncIterable<readonly LogMessage[]>;
}
