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

/** How the service does, all tenants together. What is null cannot be told at the moment. */
export type Figures = {
  /** What came to its end within the window. */
  readonly ended: {
    readonly sent: number;
    readonly failed: number;
    readonly unknown: number;
    readonly deadLetters: number;
  } | null;
  /** The job that a worker could have taken the longest ago. */
  readonly oldestWaiting: Extreme | null;
  /** Dead letters that nobody has decided about, however old; at most `mostLettersCounted`. */
  readonly openDeadLetters: number | null;
  /** The read model that is furthest behind. */
  readonly lag: Extreme | null;
  /** For how long nobody has been able to tell how far the read models are; 0 where `lag` is known. */
  readonly lagUnknownSeconds: number;
};

/** `of` is a priority or a read model; null where there is none to name. */
export type Extreme = { readonly seconds: number; readonly of: string | null };

export type Measurement = {
  readonly value: number | null;
  readonly about: string | null;
  /** Beyond the threshold. */
  readonly isOver: boolean;
  /** Clearly within it: between the two nothing changes, so that what swings about a threshold is told once. */
  readonly isWithin: boolean;
};

/** To count more would take as long as there are more, and tell nobody anything else. */
export const mostLettersCounted = 100_000;

/** An alert is cleared at this share of its threshold. */
const shareToClear = 0.8;

/** Null where the alert is off, or where nobody can tell: it stays as it is. */
export function measure(
  alert: AlertName,
  figures: Figures,
  { thresholds, leastMails }: AlertLimits,
  isRaised: boolean,
): Measurement | null {
  const threshold = thresholds[alert];
  if (threshold === null) return null;
  const { ended, oldestWaiting, openDeadLetters, lag, lagUnknownSeconds } = figures;
  switch (alert) {
    case "failure-rate":
      // Raised, it is not cleared because fewer mails go out than before, but because hardly any do.
      return ended && againstShare(threshold, ended, isRaised ? leastMails / 2 : leastMails);
    case "dead-letters":
      return ended && against(threshold, ended.deadLetters, null);
    case "open-dead-letters":
      return openDeadLetters === null ? null : against(threshold, openDeadLetters, null);
    case "oldest-waiting":
      return oldestWaiting && against(threshold, oldestWaiting.seconds, oldestWaiting.of);
    case "projection-lag":
      if (lag !== null) return against(threshold, lag.seconds, lag.of);
      return { value: null, about: null, isOver: lagUnknownSeconds > threshold, isWithin: false };
  }
}

const against = (threshold: number, value: number, about: string | null): Measurement => ({
  value,
  about,
  isOver: value > threshold,
  isWithin: value <= threshold * shareToClear,
});

/** The share is what it is, and is shown so; of few mails it says too little to be over the threshold. */
function againstShare(
  threshold: number,
  { sent, failed, unknown }: NonNullable<Figures["ended"]>,
  leastMails: number,
): Measurement {
  const mails = sent + failed + unknown;
  const share = mails === 0 ? 0 : Math.round((failed / mails) * 10_000) / 10_000;
  const measured = against(threshold, share, null);
  return mails >= leastMails ? measured : { ...measured, isOver: false, isWithin: true };
}
