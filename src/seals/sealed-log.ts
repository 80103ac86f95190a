import type { LogState } from "../event-log/event-log.ts";
import type { LogMessage } from "../event-log/log-message.ts";
import type { StoredSeal } from "./seal.ts";

/** The log as bytes, and the seals in it. Every method throws Unavailable when the log cannot be reached. */
export interface SealedLog {
  state(): Promise<LogState>;

  /** The last seal, as the leader has it; null where nothing was sealed yet. */
  lastSeal(): Promise<StoredSeal | null>;

  /** The seal at a place of the log; null where something else stands there, or nothing. */
  sealAt(sequence: number): Promise<StoredSeal | null>;

  /** Whether an operator has decided that readers go on without this message, as it stands there. */
  isPassed(message: LogMessage): Promise<boolean>;

  /**
   * Every message after a sequence, or the seals alone, in order, each once, up to where the log ended when it was asked.
   * Batches are never empty. Lost connections are taken up again for a while.
   */
  messages(afterSequence: number, which: "all" | "seals"): AsyncIterable<readonly LogMessage[]>;
}
