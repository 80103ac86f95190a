import type { ProjectionLag } from "../../projections/following/projection-lag.ts";
import type { StatsQueries } from "../../projections/jobs/stats/queries.ts";
import type { MailRateQueries } from "../../projections/mail-rates/queries.ts";
import {
  type AlertLimits,
  type Extreme,
  type Figures,
  type GroupOfMails,
  mostLettersCounted,
} from "../domain/alerts/measure.ts";
import { mailGroupings } from "../domain/recipients/mail-counts.ts";

export type ReadModels = {
  readonly stats: StatsQueries;
  readonly mailRates: Pick<MailRateQueries, "byName">;
  readonly projectionLags: () => Promise<readonly ProjectionLag[]>;
  /** How many are undecided, counted up to `most`. */
  readonly deadLetters: { readonly countOpen: (most: number) => Promise<number> };
  readonly mailings: { readonly countStopped: () => Promise<number> };
};

type Report = (failure: unknown) => void;

/** Without a limit for the lag of read models, figures from one that is further behind than this count as outdated. */
const usualLagSeconds = 60;

/**
 * The condition of the service according to the read models. While they are unavailable or too far behind, their figures
 * are outdated: then only the lag is known, or for how long even the lag has been unknown.
 */
export function createFigures(
  { stats, mailRates, projectionLags, deadLetters, mailings }: ReadModels,
  limits: AlertLimits,
  report: Report,
) {
  const minutes = limits.windowSeconds / 60;
  const longestLag = limits.thresholds["projection-lag"] ?? usualLagSeconds;
  let lagKnownAt = performance.now();

  const ask = async <Answer>(question: () => Promise<Answer>): Promise<Answer | null> => {
    try {
      return await question();
    } catch (failure) {
      report(failure);
      return null;
    }
  };

  const read = async (): Promise<Figures> => {
    const lags = await ask(projectionLags);
    const lag = furthestBehind(lags ?? []);
    if (lag !== null) lagKnownAt = performance.now();
    const lagUnknownSeconds = lag === null ? (performance.now() - lagKnownAt) / 1000 : 0;
    const isFresh = (name: string): boolean =>
      (lags?.find(({ projection }) => projection === name)?.lagSeconds ?? Number.POSITIVE_INFINITY) <= longestLag;
    const openDeadLetters = isFresh("dead-letters") ? await ask(() => deadLetters.countOpen(mostLettersCounted)) : null;
    const stoppedMailings = isFresh("jobs") ? await ask(mailings.countStopped) : null;
    const groups = isFresh("mail-rates") ? await ask(() => readGroups(mailRates, limits.windowSeconds)) : null;
    const unknown = {
      ended: null,
      groups: groups ?? [],
      oldestWaiting: null,
      openDeadLetters,
      stoppedMailings,
      lag,
      lagUnknownSeconds,
    };
    if (!isFresh("jobs")) return unknown;
    const now = Date.now();
    const found = await ask(() => stats.read(null, new Date(now).toISOString(), [minutes]));
    const counts = found?.periods[0]?.counts;
    if (found === null || counts === undefined) return unknown;
    return {
      ...unknown,
      ended: {
        sent: counts.mails_sent,
        failed: counts.mails_failed,
        unknown: counts.mails_unknown,
        bounced: counts.mails_bounced,
        complained: counts.mails_complained,
        deadLetters: counts.jobs_failed,
      },
      oldestWaiting: waitingLongest(
        [...found.waiting].flatMap(([of, { oldestSince }]) =>
          oldestSince === null ? [] : [{ of, seconds: Math.max(0, (now - Date.parse(oldestSince)) / 1000) }],
        ),
      ),
    };
  };
  return { read };
}

/** The rest is too little to be told of apart. */
const groupsLookedAt = 50;

async function readGroups(
  mailRates: Pick<MailRateQueries, "byName">,
  windowSeconds: number,
): Promise<readonly GroupOfMails[]> {
  const now = Date.now();
  const window = { from: new Date(now - windowSeconds * 1000).toISOString(), to: new Date(now).toISOString() };
  const found = await Promise.all(
    mailGroupings.map(async (grouping) => {
      const { rates } = await mailRates.byName({ tenant: null, grouping, ...window }, groupsLookedAt);
      return rates.map(({ name, counts }) => ({ of: `${grouping} ${name}`, ...counts }));
    }),
  );
  return found.flat();
}

/** Null if the lag of any read model is unknown. */
function furthestBehind(lags: readonly ProjectionLag[]): Extreme | null {
  const known = lags.flatMap(({ projection, lagSeconds }) =>
    lagSeconds === null ? [] : [{ of: projection, seconds: lagSeconds }],
  );
  if (known.length === 0 || known.length < lags.length) return null;
  const furthest = greatest(known);
  return furthest.seconds === 0 ? { seconds: 0, of: null } : furthest;
}

const waitingLongest = (waits: readonly Extreme[]): Extreme => greatest([{ seconds: 0, of: null }, ...waits]);

const greatest = (some: readonly Extreme[]): Extreme =>
  some.reduce((one, other) => (other.seconds > one.seconds ? other : one), { seconds: 0, of: null });
