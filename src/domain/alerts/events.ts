import type { Message } from "../message.ts";

export const alertNames = [
  "failure-rate",
  "oldest-waiting",
  "dead-letters",
  "open-dead-letters",
  "projection-lag",
] as const;

/** What an operator is told of. */
export type AlertName = (typeof alertNames)[number];

/**
 * What was measured. The unit is the alert's: a share from 0 to 1 of the mails, seconds of waiting or of lag, or a
 * number of dead letters.
 */
export type AlertFigure = {
  readonly alert: AlertName;
  /** Null where it could not be measured: nobody knows how far the read models are while their database is away. */
  readonly value: number | null;
  /** Null where the alert was turned off while it was raised. */
  readonly threshold: number | null;
  /** Over how long it was counted; null for what is as it is at a moment. */
  readonly windowSeconds: number | null;
  /** Which of several it is about: a priority, a read model. It names no tenant. */
  readonly about: string | null;
};

/** About the service as a whole, all tenants together, and about no job. */
export type AlertEvent =
  | Message<"AlertRaised", AlertFigure>
  /** `raisedSequence` is the place in the log of what it ends. */
  | Message<"AlertCleared", AlertFigure & { readonly raisedSequence: number }>;
