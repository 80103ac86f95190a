import type { BreakerState } from "../unavailable.ts";
import type { SendOutcome } from "./events.ts";

/** A mail route as one worker sees it. */
export type RouteState = {
  readonly name: string;
  readonly breaker: BreakerState;
  /** Whether it would be given a mail now. */
  readonly isUsable: boolean;
  readonly inFlight: number;
  /** The worker's share of the rate, in mails per second; null for no limit. */
  readonly share: number | null;
  /** Mails that wait for their turn under that rate. */
  readonly waiting: number;
  /** By outcome, since the worker opened the route. */
  readonly counts: Readonly<Record<SendOutcome["kind"], number>>;
};
