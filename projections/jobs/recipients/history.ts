import type { Instant } from "../../../src/domain/message.ts";
import type { RecipientStatus } from "../../../src/domain/recipients/recipient-status.ts";
import { positionOf } from "../../../src/event-log/place.ts";
import { toInstant } from "../../instants.ts";
import type { LogStatus, OutcomeDetails } from "./outcome-details.ts";
import type { EarlierRow, OutcomeColumns, RecipientRow } from "./rows.ts";

type OutcomeStatus = Exclude<RecipientStatus, "pending"> | "bounced" | "complained";

/** One outcome of a recipient, or a report about its mail. */
export type PastOutcome = OutcomeDetails & {
  readonly sequence: number;
  readonly index: number;
  readonly run: number;
  readonly attempt: number;
  readonly status: OutcomeStatus;
  readonly at: Instant;
  /** False if an earlier outcome stands, so that this one changed nothing (see the ledger), and for a report. */
  readonly counts: boolean;
};

/** A row that may hold an outcome: of `recipients`, where it counts, or of the earlier ones. */
type FoundRow = OutcomeColumns & Pick<EarlierRow, "counts">;

const statusOf: Readonly<Record<LogStatus, OutcomeStatus>> = {
  success: "sent",
  failed: "failed",
  deferred: "deferred",
  unknown: "unknown",
  suppressed: "suppressed",
  bounced: "bounced",
  complained: "complained",
};

/** Whether the recipient was tried at all. */
export const holdsOutcome = <Row extends Pick<RecipientRow, "place">>(row: Row): row is Row & OutcomeColumns =>
  row.place !== null;

/** Every outcome of a recipient, oldest first. A row that is found in both tables was moved meanwhile. */
export function toHistory(rows: readonly FoundRow[]): readonly PastOutcome[] {
  const byPlace = new Map(rows.map((row) => [Number(row.place), row]));
  return [...byPlace].sort(([one], [other]) => one - other).map(([place, row]) => toPastOutcome(place, row));
}

const toPastOutcome = (place: number, row: FoundRow): PastOutcome => ({
  ...positionOf(place),
  run: row.run,
  attempt: row.attempt,
  status: statusOf[row.status],
  at: toInstant(row.at),
  counts: row.counts === 1,
  ...detailsOf(row),
});

export const detailsOf = (row: OutcomeColumns): OutcomeDetails => ({
  messageId: row.message_id,
  response: row.response,
  error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? "" },
});
