import type { JobContent } from "../../src/content/content-store.ts";
import { insertRows } from "../../src/database/write-rows.ts";
import type { RecipientOutcome } from "../../src/domain/recipients/events.ts";
import type { JobRef, StoredEvent } from "../../src/event-log/event-log.ts";
import { readContents } from "../batch.ts";
import type { ProjectionTarget, Projector } from "../projector.ts";
import { type Erasure, eraseRows, type KnownErasures, noteErasure, readErasures } from "./erasures.ts";
import { type LogRow, logsTable, logTableDefinitions, logViewDefinitions, outcomeTypes, toLogRow } from "./rows.ts";

/** What happened to each recipient, attempt by attempt. This is history, so it includes outcomes without effect. */
export const logsProjector: Projector<(Outcome | Erasure)["event"]> = {
  name: "logs",
  version: 1,
  tables: logTableDefinitions,
  views: logViewDefinitions,
  handles: [...outcomeTypes, "JobContentErased"],
  project,
};

async function project(
  events: readonly (Outcome | Erasure)[],
  { transaction, suffix, sources }: ProjectionTarget,
): Promise<void> {
  const erasing = events.filter(isErasure);
  for (const erasure of erasing) await noteErasure(transaction, suffix, erasure);
  const outcomes = events.filter(isOutcome);
  // Decides by the log: the content store may not have overwritten the content yet.
  const erased = await readErasures(transaction, suffix, [...new Set(outcomes.map(({ jobId }) => jobId))]);
  const jobs = byJob(outcomes.filter(({ jobId }) => !erased.isRetired(jobId)));
  const rows: LogRow[] = [];
  for await (const contents of readContents(jobs, sources.readContent)) {
    for (const { job, content } of contents)
      rows.push(...job.outcomes.map((outcome) => toRow(outcome, content, erased)));
  }
  const [first] = rows;
  if (first !== undefined) {
    await insertRows<LogRow>(transaction, {
      table: logsTable(suffix),
      columns: Object.keys(first) as (keyof LogRow)[],
      rows,
    });
  }
  for (const erasure of erasing) await eraseRows(transaction, suffix, erasure);
}

type Outcome = StoredEvent<RecipientOutcome>;

const isErasure = (stored: Outcome | Erasure): stored is Erasure => stored.event.type === "JobContentErased";
const isOutcome = (stored: Outcome | Erasure): stored is Outcome => !isErasure(stored);

/** The log identifies a recipient by its index: the address is in the content, which is read once for each job. */
type OutcomesOfJob = JobRef & { readonly outcomes: Outcome[] };

function byJob(outcomes: readonly Outcome[]): readonly OutcomesOfJob[] {
  const jobs = new Map<string, OutcomesOfJob>();
  for (const outcome of outcomes) {
    const { tenant, jobId } = outcome;
    const key = `${tenant}/${jobId}`;
    const known = jobs.get(key);
    if (known === undefined) jobs.set(key, { tenant, jobId, outcomes: [outcome] });
    else known.outcomes.push(outcome);
  }
  return [...jobs.values()];
}

function toRow(outcome: Outcome, content: JobContent | null, { isErased }: KnownErasures): LogRow {
  const { recipient } = outcome.event.data;
  const email = isErased(outcome.jobId, recipient) ? null : content?.recipients[recipient]?.email;
  return toLogRow(outcome, email ?? null);
}
