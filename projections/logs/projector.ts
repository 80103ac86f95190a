import { insertRows } from "../../src/database/write-rows.ts";
import type { RecipientOutcome } from "../../src/domain/recipients/events.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import type { ContentReader, ProjectionTarget, Projector } from "../projector.ts";
import { type Erasure, eraseRows, type KnownErasures, noteErasure, readErasures } from "./erasures.ts";
import { type LogRow, outcomeTypes, toLogRow } from "./rows.ts";
import { logsTable, logTableDefinitions, logViewDefinitions } from "./tables.ts";

/** What happened to each recipient, attempt by attempt: history, so outcomes without effect are in it too. */
export const logsProjector: Projector<(Outcome | Erasure)["event"]> = {
  name: "logs",
  version: 1,
  tables: logTableDefinitions,
  views: logViewDefinitions,
  handles: [...outcomeTypes, "JobContentErased"],
  project,
};

/** A content can be a megabyte long, and a batch can be about thousands of jobs: never all of them at a time. */
const readAtOnce = 20;

async function project(
  events: readonly (Outcome | Erasure)[],
  { transaction, suffix, sources }: ProjectionTarget,
): Promise<void> {
  const erasing = events.filter(isErasure);
  for (const erasure of erasing) await noteErasure(transaction, suffix, erasure);
  const outcomes = events.filter(isOutcome);
  // As the log says, whatever the content still holds: it may not be overwritten yet.
  const erased = await readErasures(transaction, suffix, [...new Set(outcomes.map(({ jobId }) => jobId))]);
  const jobs = byJob(outcomes.filter(({ jobId }) => !erased.isRetired(jobId)));
  const rows: LogRow[] = [];
  for (let first = 0; first < jobs.length; first += readAtOnce) {
    const some = jobs.slice(first, first + readAtOnce).map((outcomes) => toRows(outcomes, sources.readContent, erased));
    rows.push(...(await Promise.all(some)).flat());
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

function byJob(outcomes: readonly Outcome[]): readonly (readonly Outcome[])[] {
  const jobs = new Map<string, Outcome[]>();
  for (const outcome of outcomes) {
    const key = `${outcome.tenant}/${outcome.jobId}`;
    const known = jobs.get(key);
    if (known === undefined) jobs.set(key, [outcome]);
    else known.push(outcome);
  }
  return [...jobs.values()];
}

/** The log names a recipient by its index: the address stands in the content, which is read once for each job. */
async function toRows(
  outcomes: readonly Outcome[],
  readContent: ContentReader,
  { isErased }: KnownErasures,
): Promise<readonly LogRow[]> {
  const [first] = outcomes;
  const content = first === undefined ? null : await readContent(first);
  return outcomes.map((outcome) => {
    const { recipient } = outcome.event.data;
    const email = isErased(outcome.jobId, recipient) ? null : content?.recipients[recipient]?.email;
    return toLogRow(outcome, email ?? null);
  });
}
