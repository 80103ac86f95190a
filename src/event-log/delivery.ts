import type { StoredEvent, WaybillEvent } from "./event-log.ts";

/**
 * An event handed to one of several competing consumers. It comes back if it is neither acknowledged nor worked on
 * for a while, and after a crash of the server it may come back although it was acknowledged: what to do is decided
 * from the log, never from having been handed something. None of the calls waits, and none of them fails.
 */
export type Delivery<Event extends WaybillEvent> = {
  readonly entry: StoredEvent<Event>;
  /** How often it was handed out, this time included, as the server knows: it may forget. */
  readonly times: number;
  acknowledge(): void;
  /** Says that work goes on, so that nobody else is handed it. */
  keep(): void;
  /** Has it delivered again, to anybody, after a moment. Not for long waits: those are events and a schedule. */
  giveBack(delayMs: number): void;
};
