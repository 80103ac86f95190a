import { accepted } from "../decider.ts";
import type { RecipientCounts } from "../job/events.ts";
import { stopInWords, triedOf, whyStop, whyStopForReports } from "./brakes.ts";
import type { CommandOf } from "./commands.ts";
import { addCounts, noCounts, resultOf } from "./counts.ts";
import type { EndedPart, MailingEvent } from "./events.ts";
import { type ExistingMailing, hasMailingEnded, isNotStarted, type MailingDecision } from "./state.ts";

/** The end of the last part is the end of the mailing, in the same entry. After its end nothing more is counted. */
export function endParts({ at, parts, retries }: CommandOf<"EndParts">, state: ExistingMailing): MailingDecision {
  // What a process found before the retry, and says after it, are the ends that the retry is about.
  if (retries !== state.retries) return accepted();
  if (isNotStarted(state) || hasMailingEnded(state)) return accepted();
  const news = parts.filter(({ part, counts }) => !isSame(state.parts[part]?.counts ?? null, counts));
  if (news.length === 0) return accepted();
  const ended: MailingEvent = { type: "MailingPartsEnded", at, data: { parts: news } };
  const after = withEnds(state.parts, news);
  const counts = countsOfEnded(after);
  if (after.every((part) => part.counts !== null)) {
    return accepted<MailingEvent>(ended, { type: "MailingCompleted", at, data: { result: resultOf(counts), counts } });
  }
  const stoppedBy = whyStop(state.settings.brakes?.stopWhen ?? null, triedOf(counts), state.triedBefore);
  if (stoppedBy === null || state.status !== "started") return accepted(ended);
  const reason = stopInWords(stoppedBy);
  return accepted<MailingEvent>(ended, { type: "MailingPaused", at, data: { reason, stoppedBy } });
}

/** Of what came back, those that were counted before do not count, as after an answer that was lost. */
export function countReports(
  { at, reports: found, sent }: CommandOf<"CountReports">,
  state: ExistingMailing,
): MailingDecision {
  const { reports, reportsBefore, settings } = state;
  const news = found.filter(({ sequence }) => sequence > reports.upTo);
  const upTo = news.at(-1)?.sequence;
  if (isNotStarted(state) || hasMailingEnded(state) || upTo === undefined) return accepted();
  const complaints = news.filter(({ isComplaint }) => isComplaint).length;
  const bounced = reports.bounced + news.length - complaints;
  const now = { sent, bounced, complained: reports.complained + complaints };
  const counted: MailingEvent = { type: "MailingReportsCounted", at, data: { ...now, upTo } };
  const stoppedBy = whyStopForReports(settings.brakes?.stopWhen ?? null, now, reportsBefore);
  if (stoppedBy === null || state.status !== "started") return accepted(counted);
  const data = { reason: stopInWords(stoppedBy), stoppedBy };
  return accepted<MailingEvent>(counted, { type: "MailingPaused", at, data });
}

export const countsOfEnded = (parts: ExistingMailing["parts"]): RecipientCounts =>
  parts.reduce((sum, { counts }) => addCounts(sum, counts ?? noCounts), noCounts);

export function withEnds(parts: ExistingMailing["parts"], ended: readonly EndedPart[]): ExistingMailing["parts"] {
  const after = [...parts];
  for (const { part, counts, result } of ended) {
    const known = after[part];
    if (known !== undefined) after[part] = { ...known, counts, result };
  }
  return after;
}

const isSame = (one: RecipientCounts | null, other: RecipientCounts): boolean =>
  one !== null && (Object.keys(other) as (keyof RecipientCounts)[]).every((name) => one[name] === other[name]);
