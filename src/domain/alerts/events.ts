import type { Message } from "../message.ts";

export const alertNames = [
  "failure-rate",
  "bounce-rate",
  "complaint-rate",
  "oldest-waiting",
  "dead-letters",
  "open-dead-letters",
  "stopped-mailings",
  "projection-lag",
] as const;

/** The alerts that an operator is notified of. */
export type AlertName = (typeof alertNames)[number];

/** Whether its value is a share of the mails within the window. */
export const isShare = (alert: AlertName): boolean => alert.endsWith("-rate");

/**
 * What was measured. The unit depends on the alert: a share of the mails from 0 to 1, seconds of waiting or of lag, or a
 * number of dead letters.
 */
export type AlertFigure = {
  readonly alert: AlertName;
  /** Null if it could not be measured: the lag of read models is unknown while their database is down. */
  readonly value: number | null;
  /** Null if the alert was turned off while it was raised. */
  readonly threshold: number | null;
  /** The window over which it was counted; null for a momentary value. */
  readonly windowSeconds: number | null;
  /**
   * Which priority or read model the value is about, or which of all mails: `receiver gmail.com`, `route second`,
   * `sender example.org`. Null for all of them. It names no tenant.
   */
  readonly about: string | null;
};

/** Alerts are about the service as a whole, all tenants together, and not about a job. */
export type AlertEvent =
  | Message<"AlertRaised", AlertFigure>
  /** `raisedSequence` is the sequence of the event that raised the alert. */
  | Message<"AlertCleared", AlertFigure & { readonly raisedSequence: number }>;
