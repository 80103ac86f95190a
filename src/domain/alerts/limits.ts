import type { AlertName } from "./events.ts";

/** From where on an operator is told; null for never. Ages and lags in seconds. */
export type AlertLimits = {
  readonly thresholds: Readonly<Record<AlertName, number | null>>;
  /** How far back mails and dead letters are counted; whole minutes. */
  readonly windowSeconds: number;
  /** The share of few mails says little: as many must have come to their end within the window. */
  readonly leastMails: number;
  /** An alert that was cleared is not raised again sooner. */
  readonly quietSeconds: number;
};
