import type { Turn } from "../../../src/domain/job/events.ts";
import type { RecipientOutcome } from "../../../src/domain/recipients/events.ts";
import type { FeedbackEvent } from "../../../src/domain/recipients/feedback.ts";
import { cell, type Ledger } from "../../../src/domain/recipients/ledger.ts";
import type { StoredEvent } from "../../../src/event-log/event-log.ts";
import type { RecipientIncident } from "./outcome-details.ts";
import { type EarlierRow, type JobOfRows, toOutcomeColumns } from "./rows.ts";

type Outcome = StoredEvent<RecipientOutcome>;

/** What a batch changes in the rows of the recipients of one job. */
export type RecipientNotes = {
  /** The last outcome that counts, by the index of its recipient. */
  readonly standing: Map<number, Outcome>;
  /** The recipients whose row holds an outcome that is one of the earlier ones now. */
  readonly replaced: Set<number>;
  readonly earlier: EarlierRow[];
  /** Whether each recipient gets a row now: the job has ended, or an erasure has to find them. */
  isClosed: boolean;
};

export const noNotes = (): RecipientNotes => ({
  standing: new Map(),
  replaced: new Set(),
  earlier: [],
  isClosed: false,
});

/** A job while the outcomes of its recipients are noted. `hasRow` has a 1 for each recipient with a row before the batch. */
export type NotedJob = JobOfRows & { readonly hasRow: Uint8Array; readonly notes: RecipientNotes };

/**
 * Notes an outcome, after it was folded into the ledger; `before` is the recipient's cell until then. Returns whether
 * it counts.
 */
export function noteOutcome(job: NotedJob, ledger: Ledger, stored: Outcome, before: number | undefined): boolean {
  const { standing, replaced, earlier } = job.notes;
  const { type, data } = stored.event;
  const after = ledger.cells[data.recipient];
  // Of the events that count, only this one can leave the cell unchanged: another deferral.
  const isDeferredAgain = type === "RecipientDeferred" && data.run === ledger.run && after === cell.deferred;
  if (before === after && !isDeferredAgain) {
    earlier.push(toEarlierRow(job, stored, data, 0));
    return false;
  }
  const last = standing.get(data.recipient);
  if (last !== undefined) earlier.push(toEarlierRow(job, last, last.event.data, 1));
  else if (job.hasRow[data.recipient] === 1) replaced.add(data.recipient);
  standing.set(data.recipient, stored);
  return true;
}

/** Notes a report about a mail that was sent; `turn` is the last one of its job. It replaces no outcome. */
export function noteReport(job: NotedJob, stored: StoredEvent<FeedbackEvent>, turn: Turn): void {
  job.notes.earlier.push(toEarlierRow(job, stored, turn, 0));
}

const toEarlierRow = (
  { place, tenant }: JobOfRows,
  stored: StoredEvent<RecipientIncident>,
  turn: Turn,
  counts: 0 | 1,
): EarlierRow => ({
  job: place,
  recipient: stored.event.data.recipient,
  tenant,
  ...toOutcomeColumns(stored, turn),
  counts,
});
