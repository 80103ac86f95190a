import type { Message } from "../message.ts";
import type { ThrottleReason } from "./throttle.ts";

/** A receiver of mail has asked for patience for longer than a moment. It is about all tenants' mails together. */
export type ReceiverThrottled = Message<
  "ReceiverThrottled",
  {
    readonly route: string;
    /** A domain, or the first domain of its provider. It is part of no address here. */
    readonly receiver: string;
    /** Mails per minute, of all workers together. */
    readonly perMinute: number;
    readonly connections: number;
    /** The last answer that asked for patience; its text is masked. */
    readonly reason: ThrottleReason;
  }
>;

/** The receiver gets its mails as fast as before. */
export type ReceiverReleased = Message<
  "ReceiverReleased",
  { readonly route: string; readonly receiver: string; readonly throttledForSeconds: number }
>;

export type ThrottleEvent = ReceiverThrottled | ReceiverReleased;
