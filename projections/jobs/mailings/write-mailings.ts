import { type JobLabels, noLabels } from "../../../src/domain/job/job-record.ts";
import { progressOf } from "../../../src/domain/job/job-view.ts";
import { approvalAfter } from "../../../src/domain/mailing/approval.ts";
import type { MailingEvent } from "../../../src/domain/mailing/events.ts";
import { withTest } from "../../../src/domain/mailing/tests.ts";
import type { Instant } from "../../../src/domain/message.ts";
import type { StoredEvent } from "../../../src/event-log/event-log.ts";
import { placeOf } from "../../../src/event-log/place.ts";
import { idsOf, loadRows, type RowsOfBatch, readContents } from "../../batch.ts";
import { toDate, toDateOrNull } from "../../instants.ts";
import type { ProjectionTarget } from "../../projector.ts";
import type { ProjectedJob } from "../rows.ts";
import { approvalOf, type MailingRow, mailingTables, type PartFigures, testsOf } from "./rows.ts";

/** What a job adds to the row of a mailing. */
export type Share = PartFigures & { readonly mailingId: string };

/** Nothing for a job that is no part of a mailing. */
export function shareOf({ view }: ProjectedJob): readonly Share[] {
  const { mailingId } = view.settings;
  if (mailingId === undefined) return [];
  const { total: _, pending: __, ...figures } = progressOf(view);
  return [{ mailingId, made: 1, begun: view.startedAt === null ? 0 : 1, ...figures }];
}

/**
 * Applies decisions about mailings, and the difference between what their parts added to them before and what they add
 * now. What a part has added stays when its job is in no list any more.
 */
export async function writeMailings(
  decisions: readonly StoredEvent<MailingEvent>[],
  before: readonly Share[],
  after: readonly Share[],
  target: ProjectionTarget,
): Promise<void> {
  const { transaction, suffix } = target;
  const ids = [...decisions.map(({ jobId }) => jobId), ...after.map(({ mailingId }) => mailingId)];
  if (ids.length === 0) return;
  const rows = await loadRows<MailingRow>(
    transaction,
    mailingTables(suffix).mailings,
    ["id"],
    idsOf(ids, (id) => id),
  );
  const labels = new Map<string, JobLabels>();
  const created = decisions.filter(({ event }) => event.type === "MailingCreated");
  for await (const { job, content } of readContents(created, target)) {
    if (content !== null) labels.set(job.jobId, content);
  }
  for (const decision of decisions) apply(rows, decision, labels.get(decision.jobId) ?? noLabels);
  for (const share of before) add(rows, share, -1);
  for (const share of after) add(rows, share, 1);
  await rows.write();
}

function apply(rows: RowsOfBatch<MailingRow>, stored: StoredEvent<MailingEvent>, labels: JobLabels): void {
  const { event, jobId } = stored;
  // An event of a mailing that was never created is history without effect, as in every fold.
  const row = event.type === "MailingCreated" ? newRow(stored, event, labels) : rows.find(jobId);
  if (row === undefined) return;
  if (event.type === "MailingContentErased") rows.remove(row);
  else rows.put(withApproval(rowAfter(row, event), event));
}

function withApproval(row: MailingRow, event: MailingEvent): MailingRow {
  const before = approvalOf(row);
  const after = approvalAfter(before, event);
  return after === before ? row : { ...row, approval: after === null ? null : JSON.stringify(after) };
}

type Change = Exclude<MailingEvent, { type: "MailingContentErased" }>;

function rowAfter(row: MailingRow, event: Change): MailingRow {
  const { type, at, data } = event;
  switch (type) {
    case "MailingPartsAdded": {
      const total = data.parts.reduce((sum, { recipients }) => sum + recipients, Number(row.total));
      return { ...row, parts: row.parts + data.parts.length, total, resting_since: toDate(at) };
    }
    case "MailingStarted": {
      const times = { started_at: toDate(at), scheduled_at: toDateOrNull(data.scheduledAt), resting_since: null };
      return { ...row, status: "started", ...times, undo_until: toDateOrNull(data.undoUntil) };
    }
    case "MailingTested":
      return { ...row, tests: JSON.stringify(withTest(testsOf(row), event)), resting_since: toDate(at) };
    case "MailingApprovalRequested":
      return { ...row, status: "awaiting-approval", resting_since: toDate(at) };
    case "MailingRejected":
    case "MailingUndone": {
      const times = { started_at: null, scheduled_at: null, undo_until: null, resting_since: toDate(at) };
      return { ...row, status: "draft", ...times };
    }
    case "MailingReleased":
      return { ...row, undo_until: null };
    case "MailingRetried":
      return { ...row, status: "started", completed_at: null, resting_since: null };
    case "MailingPaused":
      return { ...row, status: "paused", ...stopOf(data.stoppedBy ?? null, at) };
    case "MailingResumed":
      return { ...row, status: "started", ...stopOf(null, at) };
    case "MailingCancelled":
      return {
        ...row,
        ...stopOf(null, at),
        status: "cancelled",
        completed_at: toDate(at),
        undo_until: null,
        resting_since: toDate(at),
      };
    case "MailingCompleted":
      return {
        ...row,
        ...stopOf(null, at),
        status: data.result,
        completed_at: toDate(at),
        resting_since: toDate(at),
      };
    case "MailingCreated":
    case "MailingPartAbandoned":
    case "MailingApproved":
    case "MailingPartsEnded":
    case "MailingReportsCounted":
      return row;
  }
}

const stopOf = (stoppedBy: object | null, at: Instant): Pick<MailingRow, "stopped_by" | "stopped_at"> => ({
  stopped_by: textOrNull(stoppedBy),
  stopped_at: stoppedBy === null ? null : toDate(at),
});

const textOrNull = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));

type Created = Extract<MailingEvent, { type: "MailingCreated" }>;

const newRow = (
  stored: StoredEvent<MailingEvent>,
  { at, data }: Created,
  { name, subject, metadata }: JobLabels,
): MailingRow => ({
  id: stored.jobId,
  tenant: stored.tenant,
  status: "draft",
  priority: data.priority,
  name,
  subject,
  metadata: JSON.stringify(metadata),
  max_attempts: data.maxAttempts,
  parts: 0,
  made: 0,
  begun: 0,
  total: 0,
  sent: 0,
  failed: 0,
  deferred: 0,
  unknown: 0,
  suppressed: 0,
  bounced: 0,
  complained: 0,
  created_at: toDate(at),
  not_after: toDateOrNull(data.notAfter),
  scheduled_at: null,
  started_at: null,
  undo_until: null,
  approval: null,
  tests: "[]",
  brakes: textOrNull(data.brakes),
  stopped_by: null,
  stopped_at: null,
  completed_at: null,
  resting_since: toDate(at),
  place: placeOf(stored),
});

function add(rows: RowsOfBatch<MailingRow>, { mailingId, ...figures }: Share, sign: 1 | -1): void {
  const row = rows.find(mailingId);
  if (row === undefined) return;
  const names = Object.keys(figures) as (keyof PartFigures)[];
  // The driver returns large numbers as text.
  const sums = Object.fromEntries(names.map((name) => [name, Number(row[name]) + sign * figures[name]]));
  rows.put({ ...row, ...sums });
}
