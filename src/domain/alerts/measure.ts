import type { AlertName } from "./events.ts";

/** The thresholds beyond which an operator is notified; null for never. Ages and lags are in seconds. */
export type AlertLimits = {
  readonly thresholds: Readonly<Record<AlertName, number | null>>;
  /** How far back mails and dead letters are counted; whole minutes. */
  readonly windowSeconds: number;
  /** A share of few mails says little: at least this many must have ended within the window. */
  readonly leastMails: number;
  /** How long after it cleared an alert is not raised again. */
  readonly quietSeconds: number;
};

type CountedMails = {
  readonly sent: number;
  readonly failed: number;
  readonly unknown?: number;
  /** What came back within the window, of mails sent then or before. */
  readonly bounced: number;
  readonly complained: number;
};

/** Mails that have something in common, such as their receiver: `receiver gmail.com`, `route second`, `sender example.org`. */
export type GroupOfMails = CountedMails & { readonly of: string };

/** The condition of the service, all tenants together. Null values are unknown at the moment. */
export type Figures = {
  /** The mails and jobs that ended within the window. */
  readonly ended: {
    readonly sent: number;
    readonly failed: number;
    readonly unknown: number;
    /** What came back within the window, of mails sent then or before. */
    readonly bounced: number;
    readonly complained: number;
    readonly deadLetters: number;
  } | null;
  /** Of these the groups with the most mails, counted by whole hours: those that the window touches. */
  readonly groups: readonly GroupOfMails[];
  /** The job that has been ready for a worker for the longest time. */
  readonly oldestWaiting: Extreme | null;
  /** Undecided dead letters, however old; at most `mostLettersCounted`. */
  readonly openDeadLetters: number | null;
  /** Mailings that stopped by themselves, and that nobody has resumed or cancelled since. */
  readonly stoppedMailings: number | null;
  /** The read model that is furthest behind. */
  readonly lag: Extreme | null;
  /** For how long the lag of the read models has been unknown; 0 if `lag` is known. */
  readonly lagUnknownSeconds: number;
};

/** `of` is a priority or a read model; null if there is none to name. */
export type Extreme = { readonly seconds: number; readonly of: string | null };

export type Measurement = {
  readonly value: number | null;
  readonly about: string | null;
  /** Beyond the threshold. */
  readonly isOver: boolean;
  /** Clearly within the threshold. Between the two nothing changes, so that a value that swings about the threshold sends one notification. */
  readonly isWithin: boolean;
};

/** Counting further would take longer and change nothing for the alert. */
export const mostLettersCounted = 100_000;

/** An alert is cleared at this share of its threshold. */
const shareToClear = 0.8;

/** Null if the alert is off or the value is unknown: the state does not change. */
export function measure(
  alert: AlertName,
  figures: Figures,
  { thresholds, leastMails }: AlertLimits,
  isRaised: boolean,
): Measurement | null {
  const threshold = thresholds[alert];
  if (threshold === null) return null;
  const { ended, groups, oldestWaiting, openDeadLetters, stoppedMailings, lag, lagUnknownSeconds } = figures;
  // A raised alert does not clear because fewer mails are sent than before, only when hardly any are.
  const orFewer = (mails: number): number => (isRaised ? mails / 2 : mails);
  const least = orFewer(leastMails);
  const worst = (some: "failed" | "bounced" | "complained", of: (mails: CountedMails) => number, enough: number) =>
    ended &&
    worstOf([
      againstShare(threshold, ended[some], of(ended), enough, null),
      ...groups.map((group) => {
        // As many as all, by whole hours or by a read model that is ahead: this is no group apart.
        const about = of(group) >= of(ended) ? null : group.of;
        return againstShare(threshold, group[some], of(group), enough, about);
      }),
    ]);
  switch (alert) {
    case "failure-rate":
      return worst("failed", ({ sent, failed, unknown = 0 }) => sent + failed + unknown, least);
    case "bounce-rate":
      return worst("bounced", ({ sent }) => sent, least);
    case "complaint-rate": {
      // A single complaint about fewer mails would be more than so small a share. A share of 0 asks to hear of each.
      const enough = threshold === 0 ? least : Math.max(least, orFewer(2 / threshold));
      return worst("complained", ({ sent }) => sent, enough);
    }
    case "dead-letters":
      return ended && against(threshold, ended.deadLetters, null);
    case "open-dead-letters":
      return openDeadLetters === null ? null : against(threshold, openDeadLetters, null);
    case "stopped-mailings":
      return stoppedMailings === null ? null : against(threshold, stoppedMailings, null);
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

/**
 * All mails together, which come first, unless only a group of them is over the threshold: a receiver that refuses everything
 * is hardly seen among all others.
 */
function worstOf([all, ...groups]: readonly [Measurement, ...Measurement[]]): Measurement {
  const over = groups.filter(({ isOver }) => isOver).sort((one, other) => (other.value ?? 0) - (one.value ?? 0));
  const found = all.isOver ? all : (over[0] ?? all);
  return { ...found, isWithin: [all, ...groups].every(({ isWithin }) => isWithin) };
}

/** The share is shown as it is, but with few mails it never counts as over the threshold. */
function againstShare(
  threshold: number,
  some: number,
  mails: number,
  least: number,
  about: string | null,
): Measurement {
  const share = mails === 0 ? 0 : Math.min(1, Math.round((some / mails) * 10_000) / 10_000);
  const measured = against(threshold, share, about);
  return mails >= least ? measured : { ...measured, isOver: false, isWithin: true };
}
