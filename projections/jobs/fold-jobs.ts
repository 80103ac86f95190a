import { noLabels } from "../../src/domain/job/job-record.ts";
import { createJobView, evolveJobView, type JobView } from "../../src/domain/job/job-view.ts";
import type { Instant } from "../../src/domain/message.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { placeOf } from "../../src/event-log/place.ts";
import { type Erasures, noErasures, takeErasure } from "./erasures.ts";
import { noNotes, noteOutcome, noteReport, type RecipientNotes } from "./recipients/note-outcomes.ts";
import { isStoredOutcome, isStoredReport } from "./recipients/outcome-details.ts";
import type { ProjectedJob } from "./rows.ts";
import { type Activities, countReport, noteDecision, noteMail } from "./stats/activities.ts";

/** Changed in place: a batch has one for each job, and hundreds of events for each. */
export type FoldingJob = { -readonly [Key in keyof ProjectedJob]: ProjectedJob[Key] } & {
  readonly notes: RecipientNotes;
};

export type Folded = {
  /** By id, without those that were retired. */
  readonly jobs: ReadonlyMap<string, FoldingJob>;
  readonly retired: readonly FoldingJob[];
  /** The jobs that begin with these events. */
  readonly created: readonly FoldingJob[];
  readonly erasures: Erasures;
};

/** Folds each event into its job, and counts what happened. The one fold of everything that read models say of jobs. */
export function foldJobs(
  before: ReadonlyMap<string, ProjectedJob>,
  events: readonly StoredEvent[],
  activities: Activities,
): Folded {
  const jobs = new Map([...before].map(([id, job]): [string, FoldingJob] => [id, { ...job, notes: noNotes() }]));
  const created: FoldingJob[] = [];
  const retired: FoldingJob[] = [];
  const erasures = noErasures();
  for (const stored of events) {
    const { event, jobId, tenant, sequence } = stored;
    const job = jobs.get(jobId);
    if (job !== undefined) {
      if (job.tenant !== tenant) throw new Error(`Event ${sequence} assigns job ${jobId} to another tenant.`);
      foldInto(job, stored, activities);
      if (event.type === "JobContentErased") takeErasure(erasures, job, event.data);
      if (erasures.whole.has(jobId)) job.labels = noLabels;
      // Its rows are deleted: later events are history without effect.
      if (erasures.retired.has(jobId) && jobs.delete(jobId)) retired.push(job);
    } else if (event.type === "JobCreated") {
      const begun = beginJob(stored, createJobView(event));
      jobs.set(jobId, begun);
      created.push(begun);
      noteDecision(activities, stored, null, begun.view);
    }
    // An event of a job that was never created is history without effect, as in every fold.
  }
  return { jobs, retired, created: created.filter(({ jobId }) => jobs.has(jobId)), erasures };
}

const beginJob = (stored: StoredEvent, view: JobView): FoldingJob => ({
  jobId: stored.jobId,
  tenant: stored.tenant,
  place: placeOf(stored),
  labels: noLabels,
  view,
  hasRow: new Uint8Array(view.ledger.cells.length),
  runBeganAt: stored.event.at,
  waitingSince: waitingSince(null, view, stored.event.at),
  lastSequence: stored.sequence,
  outcomeSequence: 0,
  notes: noNotes(),
});

function foldInto(job: FoldingJob, stored: StoredEvent, activities: Activities): void {
  job.lastSequence = stored.sequence;
  if (isStoredOutcome(stored)) {
    const { ledger } = job.view;
    const before = ledger.cells[stored.event.data.recipient];
    job.view = evolveJobView(job.view, stored.event);
    if (!noteOutcome(job, ledger, stored, before)) return;
    job.outcomeSequence = stored.sequence;
    noteMail(activities, stored);
    return;
  }
  if (isStoredReport(stored)) {
    const { recipient } = stored.event.data;
    const before = job.view.feedback?.[recipient] ?? 0;
    job.view = evolveJobView(job.view, stored.event);
    const { run, attempt } = job.view;
    noteReport(job, stored, { run, attempt: Math.max(1, attempt) });
    countReport(activities, stored, before, job.view.feedback?.[recipient] ?? 0);
    return;
  }
  const { event } = stored;
  const before = job.view;
  job.view = evolveJobView(before, event);
  if (job.view === before) return;
  noteDecision(activities, stored, before, job.view);
  if (event.type === "JobRetried") job.runBeganAt = event.at;
  job.waitingSince = waitingSince(job.waitingSince, job.view, event.at);
  if (job.view.completedAt !== null || event.type === "JobContentErased") job.notes.isClosed = true;
}

/**
 * Since when a worker could have taken the job, or from when on one may; null for a job that does not wait for one. Queued,
 * it waits on.
 */
function waitingSince(
  before: Instant | null,
  { status, settings, nextAttemptAt }: JobView,
  at: Instant,
): Instant | null {
  if (status === "scheduled") return settings.scheduledAt;
  if (status === "retrying") return nextAttemptAt;
  if (status !== "pending" && status !== "queued") return null;
  return before !== null && before < at ? before : at;
}
