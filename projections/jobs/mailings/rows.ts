import type { Priority } from "../../../src/domain/job/events.ts";
import type { JobLabels } from "../../../src/domain/job/job-record.ts";
import type { Progress } from "../../../src/domain/job/job-view.ts";
import type { Brakes, StoppedBy } from "../../../src/domain/mailing/brakes.ts";
import { type MailingRecord, shownStatus } from "../../../src/domain/mailing/mailing-record.ts";
import type { Approval, KnownTest, MailingStatus } from "../../../src/domain/mailing/state.ts";
import { toInstant, toInstantOrNull } from "../../instants.ts";
import type { Suffix } from "../../projector.ts";

export const mailingTables = (suffix: Suffix) => ({ mailings: `mailings${suffix}` });

/**
 * A row for each mailing. `total` counts the recipients of all its parts; `made` and `begun` its parts that are jobs, and
 * those on which work has begun, and the counters beside them the recipients of these. `place` is that of its
 * MailingCreated event. `resting_since` is when a draft was touched last, or when the mailing ended.
 */
const mailings = `
  id VARCHAR(64) NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  status VARCHAR(32) NOT NULL,
  priority VARCHAR(16) NOT NULL,
  name VARCHAR(300) COLLATE utf8mb4_unicode_ci NULL,
  subject VARCHAR(300) COLLATE utf8mb4_unicode_ci NULL,
  metadata MEDIUMTEXT NOT NULL,
  max_attempts INT NOT NULL,
  parts INT NOT NULL,
  made INT NOT NULL,
  begun INT NOT NULL,
  total BIGINT NOT NULL,
  sent BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  deferred BIGINT NOT NULL,
  \`unknown\` BIGINT NOT NULL,
  suppressed BIGINT NOT NULL,
  bounced BIGINT NOT NULL,
  complained BIGINT NOT NULL,
  created_at DATETIME(3) NOT NULL,
  not_after DATETIME(3) NULL,
  scheduled_at DATETIME(3) NULL,
  started_at DATETIME(3) NULL,
  undo_until DATETIME(3) NULL,
  approval TEXT NULL,
  tests TEXT NOT NULL,
  brakes TEXT NULL,
  stopped_by TEXT NULL,
  stopped_at DATETIME(3) NULL,
  completed_at DATETIME(3) NULL,
  resting_since DATETIME(3) NULL,
  place BIGINT NOT NULL,
  PRIMARY KEY (id),
  KEY by_creation (tenant, place),
  KEY by_rest (tenant, resting_since),
  KEY by_openness (resting_since),
  KEY by_stop (stopped_at)`;

export const mailingTableDefinitions = { mailings };

/** What the parts of a mailing that are jobs add to its row. */
export type PartFigures = {
  readonly made: number;
  readonly begun: number;
  readonly sent: number;
  readonly failed: number;
  readonly deferred: number;
  readonly unknown: number;
  readonly suppressed: number;
  readonly bounced: number;
  readonly complained: number;
};

export type MailingRow = PartFigures & {
  readonly id: string;
  readonly tenant: string;
  readonly status: MailingStatus;
  readonly priority: Priority;
  readonly name: string | null;
  readonly subject: string | null;
  readonly metadata: string;
  readonly max_attempts: number;
  readonly parts: number;
  readonly total: number;
  readonly created_at: Date;
  readonly not_after: Date | null;
  readonly scheduled_at: Date | null;
  readonly started_at: Date | null;
  readonly undo_until: Date | null;
  readonly approval: string | null;
  readonly tests: string;
  readonly brakes: string | null;
  readonly stopped_by: string | null;
  readonly stopped_at: Date | null;
  readonly completed_at: Date | null;
  readonly resting_since: Date | null;
  readonly place: number;
};

/** As JSON in its column. */
export const approvalOf = ({ approval }: Pick<MailingRow, "approval">): Approval | null =>
  approval === null ? null : (JSON.parse(approval) as Approval);

/** The same. */
export const testsOf = ({ tests }: Pick<MailingRow, "tests">): readonly KnownTest[] =>
  JSON.parse(tests) as readonly KnownTest[];

/** The driver returns large numbers as text. */
function progressOf(row: MailingRow): Progress {
  const [total, sent, failed] = [Number(row.total), Number(row.sent), Number(row.failed)];
  const [deferred, unknown, suppressed] = [Number(row.deferred), Number(row.unknown), Number(row.suppressed)];
  const pending = total - sent - failed - deferred - unknown - suppressed;
  const [bounced, complained] = [Number(row.bounced), Number(row.complained)];
  return { total, sent, failed, pending, deferred, unknown, suppressed, bounced, complained };
}

export function toMailingRecord(row: MailingRow): MailingRecord {
  const [scheduledAt, undoUntil] = [toInstantOrNull(row.scheduled_at), toInstantOrNull(row.undo_until)];
  return {
    id: row.id,
    status: shownStatus(row.status, undoUntil ?? scheduledAt, row.begun > 0),
    priority: row.priority,
    name: row.name,
    subject: row.subject,
    metadata: JSON.parse(row.metadata) as JobLabels["metadata"],
    progress: progressOf(row),
    parts: row.parts,
    partsMade: row.made,
    maxAttempts: row.max_attempts,
    notAfter: toInstantOrNull(row.not_after),
    createdAt: toInstant(row.created_at),
    scheduledAt,
    startedAt: toInstantOrNull(row.started_at),
    undoUntil,
    approval: approvalOf(row),
    tests: testsOf(row),
    brakes: row.brakes === null ? null : (JSON.parse(row.brakes) as Brakes),
    stoppedBy: row.stopped_by === null ? null : (JSON.parse(row.stopped_by) as StoppedBy),
    completedAt: toInstantOrNull(row.completed_at),
  };
}
