import type { StoredEvent, WaybillEvent } from "./event-log.ts";

/**
 * What one of several competing consumers may say about a message that it was handed. The message is redelivered if it
 * is neither acknowledged nor worked on for a while, and after a crash of the server it may be redelivered although it
 * was acknowledged: decide what to do from the log, never from the fact of a delivery. None of the calls waits, and none
 * of them fails.
 */
export type Handover = {
  /** The number of deliveries, this one included, as far as the server knows: it may forget. */
  readonly times: number;
  acknowledge(): void;
  /** Reports that work goes on, so that the server delivers it to no other consumer. */
  keep(): void;
  /** Requests redelivery, to any consumer, after a moment. Not for long waits: those are events and a schedule. */
  giveBack(delayMs: number): void;
};

/** An event of the log, handed to one of several competing consumers. */
export type Delivery<Event extends WaybillEvent> = Handover & { readonly entry: StoredEvent<Event> };
