import { setTimeout as pause } from "node:timers/promises";
import { handleMailingCommand } from "../commands/handle-command.ts";
import {
  foldDecisions,
  foldMailing,
  type JobVersion,
  type MailingVersion,
  newMailing,
} from "../commands/read-version.ts";
import { isJobEnd, type JobEnd, type RecipientCounts } from "../domain/job/events.ts";
import { foldJobView, outcomesOf } from "../domain/job/job-view.ts";
import { asksForReports } from "../domain/mailing/brakes.ts";
import type { FoundReport } from "../domain/mailing/commands.ts";
import { noCounts } from "../domain/mailing/counts.ts";
import type { EndedPart } from "../domain/mailing/events.ts";
import { type ExistingMailing, hasMailingEnded } from "../domain/mailing/state.ts";
import type { Instant } from "../domain/message.ts";
import type { FeedbackEvent } from "../domain/recipients/feedback.ts";
import { recipientsInDoubt } from "../domain/recipients/ledger.ts";
import type { Cause, EventLog, JobRef, StoredEvent } from "../event-log/event-log.ts";
import type { Tended } from "../event-log/following/look-again.ts";

/** Longer than a mail server takes for a mail, unless something is wrong. */
const settleMs = 10_000;
const lookAgainMs = 250;

/** An end takes up to 160 bytes, and an entry of the log at most a megabyte. */
const recordedAtOnce = 5000;

export type PartEnd = Omit<EndedPart, "part">;

/** A mailing that was started and has not ended, as far as this process has come with it. */
export type OpenMailing = Tended & {
  version: MailingVersion;
  /** The parts before this one are jobs: parts are made one after the other. */
  made: number;
  /** When the last of them was; null where none is, and for a mailing without brakes. */
  lastMadeAt: Instant | null;
  /** The numbers of the parts whose jobs have not ended. */
  readonly running: Set<number>;
  /** The numbers of the parts that are to be run again: their jobs have ended, and were not run again since the retry. */
  readonly again: Set<number>;
  /** Ends that are not recorded yet, by the number of the part. */
  readonly ended: Map<number, PartEnd>;
  /** Hard bounces and complaints that are not recorded yet, in the order of the log; none where they could not stop it. */
  reports: FoundReport[];
  /** One of the reports waits for those that come within a moment, and records them all. */
  gathersReports: boolean;
  /** Where in the log it was opened again last, and how often it was; 0 for never. What ended before it is old. */
  retriedAt: number;
  retries: number;
  /** How many decisions about it are still to be read. */
  unheard: number;
};

export const unread = (ref: JobRef): OpenMailing => ({
  ref,
  version: newMailing,
  made: 0,
  lastMadeAt: null,
  running: new Set(),
  again: new Set(),
  retriedAt: 0,
  retries: 0,
  ended: new Map(),
  reports: [],
  gathersReports: false,
  unheard: 0,
  looksAt: null,
});

export const partsOf = ({ version: { state } }: OpenMailing): ExistingMailing["parts"] =>
  state.status === "absent" ? [] : state.parts;

/** Reads it as it is now. */
export async function readOpen(log: EventLog, mailing: OpenMailing): Promise<void> {
  const decisions = await log.readMailing(mailing.ref);
  const retries = decisions.filter(({ event }) => event.type === "MailingRetried");
  mailing.version = foldMailing(decisions);
  mailing.retriedAt = retries.at(-1)?.sequence ?? 0;
  mailing.retries = retries.length;
}

/** Goes on from where it was: finds the parts that are jobs by now, and those of them whose end was not recorded. */
export async function findMade(log: EventLog, mailing: OpenMailing): Promise<void> {
  const parts = partsOf(mailing);
  mailing.running.clear();
  mailing.again.clear();
  mailing.ended.clear();
  const { state } = mailing.version;
  const isCounted = state.status !== "absent" && !hasMailingEnded(state);
  for (mailing.made = 0; mailing.made < parts.length; mailing.made += 1) {
    const part = parts[mailing.made];
    if (part === undefined) break;
    if (part.counts !== null) continue;
    const run = await findRun(log, { ...mailing.ref, jobId: part.jobId }, mailing.retriedAt, isCounted);
    if (run.found === "none") break;
    note(mailing, mailing.made, run);
  }
  mailing.lastMadeAt = await lastMadeAt(log, mailing);
}

async function lastMadeAt(log: EventLog, { ref, version: { state }, made }: OpenMailing): Promise<Instant | null> {
  if (state.status === "absent" || state.settings.brakes === null) return null;
  const jobId = state.parts[made - 1]?.jobId;
  return jobId === undefined ? null : ((await log.readDecisions({ ...ref, jobId }))[0]?.event.at ?? null);
}

export async function recordEnds(log: EventLog, mailing: OpenMailing, cause: Cause): Promise<void> {
  const { ended, ref, retries } = mailing;
  while (ended.size > 0) {
    const parts = [...ended].slice(0, recordedAtOnce).map(([part, end]): EndedPart => ({ part, ...end }));
    const command = { type: "EndParts", at: new Date().toISOString(), parts, retries } as const;
    const outcome = await handleMailingCommand(log, ref, command, cause, { from: mailing.version });
    if (outcome.outcome === "rejected") throw new Error(`Mailing ${ref.jobId} refused the ends of its parts.`);
    mailing.version = outcome;
    for (const { part } of parts) ended.delete(part);
  }
}

/**
 * Notes a report about a mail of one of its parts. False for one that was noted before, or that could not stop the mailing.
 */
export function noteReport(mailing: OpenMailing, { sequence, event }: StoredEvent<FeedbackEvent>): boolean {
  const { state } = mailing.version;
  if (state.status === "absent" || !asksForReports(state.settings.brakes)) return false;
  const isComplaint = event.type === "RecipientComplained";
  if (!isComplaint && event.data.bounce !== "hard") return false;
  const { reports } = mailing;
  if (sequence > (reports.at(-1)?.sequence ?? state.reports.upTo)) reports.push({ sequence, isComplaint });
  return reports.length > 0;
}

/** Mails of running parts count as sent: a mailing stops for too many reports rather late than wrongly. */
export async function recordReports(log: EventLog, mailing: OpenMailing, cause: Cause): Promise<void> {
  const { reports, ref, version: from } = mailing;
  const parts = partsOf(mailing);
  const sent = parts.reduce(
    (sum, { counts, recipients }, part) => sum + (counts?.sent ?? (mailing.running.has(part) ? recipients : 0)),
    0,
  );
  const command = { type: "CountReports", at: new Date().toISOString(), reports, sent } as const;
  const outcome = await handleMailingCommand(log, ref, command, cause, { from });
  if (outcome.outcome === "rejected") throw new Error(`Mailing ${ref.jobId} refused what came back.`);
  mailing.version = outcome;
  mailing.reports = [];
}

/** The job of a part: not made, not ended, ended, or ended before the mailing was opened again, and to be run again. */
export type Run =
  | { readonly found: "none" | "running" }
  | { readonly found: "before"; readonly version: JobVersion }
  | ({ readonly found: "ended" } & PartEnd);

/** `retriedAt` is the place in the log after which its run counts; of a mailing that was cancelled no end does. */
export async function findRun(log: EventLog, job: JobRef, retriedAt: number, isCounted = true): Promise<Run> {
  const decisions = await log.readDecisions(job);
  const version = foldDecisions(decisions);
  const { state } = version;
  if (state.status === "absent") return { found: "none" };
  if (state.status !== "completed" && state.status !== "failed" && state.status !== "cancelled") {
    return { found: "running" };
  }
  const end = decisions.findLast(({ event }) => isJobEnd(event));
  const isOld = end !== undefined && end.sequence < retriedAt;
  if (isOld && state.status !== "cancelled") return { found: "before", version };
  const mayStillCount = isCounted && state.status === "cancelled" && end !== undefined;
  const settlesMs = mayStillCount ? leftToSettle(end.event.at) : 0;
  return { found: "ended", result: state.status, counts: await countsOf(log, job, settlesMs) };
}

export function note(mailing: OpenMailing, part: number, run: Run): void {
  if (run.found === "ended") mailing.ended.set(part, { result: run.result, counts: run.counts });
  else if (run.found === "before") mailing.again.add(part);
  else mailing.running.add(part);
}

/** A job that expired has counted nothing, and a cancel counts nothing. */
export async function endOf(log: EventLog, job: JobRef, event: JobEnd, mayStillCount: () => boolean): Promise<PartEnd> {
  if (event.type === "JobCancelled") {
    return { result: "cancelled", counts: await countsOf(log, job, leftToSettle(event.at), mayStillCount) };
  }
  const result = event.type === "JobCompleted" ? "completed" : "failed";
  return { result, counts: event.data.counts ?? (await countsOf(log, job)) };
}

/** How long the outcomes of the mails that were on their way at a cancel may still be waited for. */
const leftToSettle = (cancelledAt: Instant): number =>
  Math.min(settleMs, Math.max(0, Date.parse(cancelledAt) + settleMs - Date.now()));

/**
 * The outcomes of what was claimed come after a cancel: this waits for them for up to `settlesMs`. Where somebody has retried
 * the job meanwhile, that run settles them.
 */
async function countsOf(
  log: EventLog,
  job: JobRef,
  settlesMs = 0,
  mayStillCount = (): boolean => true,
): Promise<RecipientCounts> {
  const settledBy = performance.now() + settlesMs;
  for (;;) {
    const view = foldJobView((await log.readHistory(job)).map(({ event }) => event));
    if (view === null) return noCounts;
    const isSettled = view.status !== "cancelled" || recipientsInDoubt(view.ledger).length === 0;
    if (isSettled || performance.now() >= settledBy || !mayStillCount()) return outcomesOf(view);
    await pause(lookAgainMs);
  }
}
