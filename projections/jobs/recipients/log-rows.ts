import type { Instant } from "../../../src/domain/message.ts";
import { placeToText } from "../../../src/event-log/place.ts";
import { toInstant } from "../../instants.ts";
import { detailsOf } from "./history.ts";
import type { LogStatus, OutcomeDetails } from "./outcome-details.ts";
import { type OutcomeColumns, outcomeColumns } from "./rows.ts";

/** What happened to one recipient in one attempt. */
export type LogEntry = OutcomeDetails & {
  /** The place of the event. */
  readonly id: string;
  /** Its index in the job. */
  readonly recipient: number;
  /** Null once it was erased. */
  readonly email: string | null;
  readonly status: LogStatus;
  readonly attempt: number;
  readonly run: number;
  readonly sentAt: Instant | null;
  readonly createdAt: Instant;
};

/** An outcome with the recipient that it is about. */
export type LogRow = OutcomeColumns & { readonly recipient: number; readonly email: string | null };

/** The columns of a LogRow, from the table of the outcome and that of the recipient. */
export const logColumns = (outcome: string, recipient: string): string =>
  [...["recipient", ...outcomeColumns].map((column) => `${outcome}.${column}`), `${recipient}.email`].join(", ");

export const toLogEntry = (row: LogRow): LogEntry => ({
  id: placeToText(Number(row.place)),
  recipient: row.recipient,
  email: row.email,
  status: row.status,
  attempt: row.attempt,
  run: row.run,
  sentAt: row.status === "success" ? toInstant(row.at) : null,
  createdAt: toInstant(row.at),
  ...detailsOf(row),
});
