import { unreachedIn } from "../../src/domain/job/after-failure.ts";
import {
  createDeadLetter,
  decideDeadLetter,
  noReplies,
  noteReply,
  type Replies,
  runDecidedAbout,
} from "../../src/domain/job/dead-letter.ts";
import type { JobLabels } from "../../src/domain/job/job-record.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { idsOf, loadRows, type RowsOfBatch, readContents } from "../batch.ts";
import type { EventOf, ProjectionTarget, Projector } from "../projector.ts";
import { recount } from "./count-letters.ts";
import {
  deadLetterTableDefinitions,
  deadLetterTables,
  type JobRow,
  type LetterRow,
  toDeadLetter,
  toLetterRow,
} from "./rows.ts";

const handles = [
  "JobCreated",
  "JobCompleted",
  "JobFailed",
  "JobCancelled",
  "JobRetried",
  "JobRequeued",
  "DeadLetterIgnored",
  "JobContentErased",
  "RecipientFailed",
] as const;

type Decision = StoredEvent<EventOf<(typeof handles)[number]>>;

/** The jobs that gave up, and what was decided about each. */
export const deadLettersProjector: Projector<Decision["event"]> = {
  name: "dead-letters",
  version: 5,
  tables: deadLetterTableDefinitions,
  views: {},
  handles,
  project,
};

type Rows = { readonly jobs: RowsOfBatch<JobRow>; readonly letters: RowsOfBatch<LetterRow> };
type Labels = ReadonlyMap<string, Pick<JobLabels, "name" | "subject">>;

async function project(decisions: readonly Decision[], target: ProjectionTarget): Promise<void> {
  const { transaction, suffix } = target;
  const tables = deadLetterTables(suffix);
  const ids = idsOf(decisions, ({ jobId }) => jobId);
  const jobs = await loadRows<JobRow>(transaction, tables.jobs, ["job_id"], ids);
  const letters = await loadRows<LetterRow>(transaction, tables.letters, ["job_id", "run"], ids);
  const labels = await readLabels(decisions, target);
  for (const decision of decisions) apply({ jobs, letters }, decision, labels);
  await jobs.write();
  await recount(transaction, tables.counts, await letters.write());
}

function apply({ jobs, letters }: Rows, stored: Decision, labels: Labels): void {
  const { event, jobId, tenant, sequence, actor } = stored;
  const job = jobs.find(jobId);
  switch (event.type) {
    case "JobCreated":
      jobs.put({ job_id: jobId, type: event.data.type, total: event.data.total, replies: asText(noReplies) });
      return;
    case "RecipientFailed":
      if (job !== undefined) jobs.put({ ...job, replies: asText(noteReply(repliesOf(job), event)) });
      return;
    case "JobFailed": {
      // An event of a job that was never created is history without effect, as in every fold.
      if (job === undefined) return;
      const { name, subject } = labels.get(jobId) ?? { name: null, subject: null };
      const frame = { job_id: jobId, tenant, sequence, type: job.type, name, subject };
      letters.put(toLetterRow(frame, createDeadLetter(event, job.total, repliesOf(job))));
      return;
    }
    case "JobRetried":
    case "JobRequeued":
    case "DeadLetterIgnored": {
      const row = letters.find(jobId, runDecidedAbout(event));
      if (row === undefined) return;
      letters.put(toLetterRow(row, decideDeadLetter(toDeadLetter(row), event, actor)));
      return;
    }
    case "JobCompleted":
      if (job !== undefined && unreachedIn(event.data.counts) === 0) jobs.remove(job);
      return;
    case "JobCancelled":
      if (job !== undefined) jobs.remove(job);
      return;
    case "JobContentErased":
      if (event.data.recipients !== null) return;
      for (const letter of letters.all()) {
        if (letter.job_id !== jobId) continue;
        if (event.data.isRetired) letters.remove(letter);
        else letters.put({ ...letter, name: null, subject: null });
      }
      if (event.data.isRetired && job !== undefined) jobs.remove(job);
      return;
  }
}

const asText = (replies: Replies): string => JSON.stringify(replies);

const repliesOf = ({ replies }: JobRow): Replies => JSON.parse(replies) as Replies;

async function readLabels(decisions: readonly Decision[], target: ProjectionTarget): Promise<Labels> {
  const failed = decisions.filter(({ event }) => event.type === "JobFailed");
  const labels = new Map<string, Pick<JobLabels, "name" | "subject">>();
  for await (const { job, content } of readContents(failed, target)) {
    if (content !== null) labels.set(job.jobId, { name: content.name, subject: content.subject });
  }
  return labels;
}
