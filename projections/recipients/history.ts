import type { Instant } from "../../src/domain/message.ts";
import type { RecipientOutcome } from "../../src/domain/recipients/events.ts";
import type { RecipientStatus } from "../../src/domain/recipients/recipient-status.ts";
import { type OutcomeDetails, outcomeDetailsOf } from "../outcome-details.ts";

type OutcomeStatus = Exclude<RecipientStatus, "pending">;

/** One outcome of a recipient. */
export type PastOutcome = OutcomeDetails & {
  /** The sequence of the event. */
  readonly sequence: number;
  readonly run: number;
  readonly attempt: number;
  readonly status: OutcomeStatus;
  readonly at: Instant;
  /** False if an earlier outcome stands, so that this one changed nothing: see the ledger. */
  readonly counts: boolean;
};

const statusOf: Readonly<Record<RecipientOutcome["type"], OutcomeStatus>> = {
  RecipientSent: "sent",
  RecipientFailed: "failed",
  RecipientDeferred: "deferred",
  RecipientUnknown: "unknown",
  RecipientSuppressed: "suppressed",
};

export const outcomeTypes = Object.keys(statusOf) as RecipientOutcome["type"][];

/** ASCII has separator characters, which SQL need not escape. JSON, full of quotes, took a fifth longer to write. */
const unitSeparator = "\x1f";
const recordSeparator = "\x1e";

const yes = "1";
const no = "0";

/** A separate record, so that later ones can be appended without reading it. */
export function toHistoryRecord(sequence: number, event: RecipientOutcome, counts: boolean): string {
  const { run, attempt } = event.data;
  const { messageId, response, error } = outcomeDetailsOf(event);
  const frame = [sequence, run, attempt, statusOf[event.type], counts ? yes : no, event.at];
  // An unsent mail has no id, and the answer of the mail server is the message of the error.
  const details =
    error === null
      ? [clean(messageId ?? ""), clean(response ?? "")]
      : [error.code, clean(error.message), response === null ? no : yes];
  return [...frame, ...details].join(unitSeparator) + recordSeparator;
}

const clean = (text: string): string => text.replaceAll(unitSeparator, " ").replaceAll(recordSeparator, " ");

/** Oldest first. */
export const fromHistory = (history: string): readonly PastOutcome[] =>
  history.split(recordSeparator).slice(0, -1).map(fromRecord);

function fromRecord(record: string): PastOutcome {
  const [sequence, run, attempt, status, counts, at = "", ...details] = record.split(unitSeparator);
  return {
    sequence: Number(sequence),
    run: Number(run),
    attempt: Number(attempt),
    // The format of toHistoryRecord.
    status: status as OutcomeStatus,
    at,
    counts: counts === yes,
    ...(status === "sent" ? fromSent(details) : fromUnsent(details)),
  };
}

const fromSent = ([messageId = "", response = ""]: readonly string[]): OutcomeDetails => ({
  messageId,
  response,
  error: null,
});

const fromUnsent = ([code = "", message = "", isAnswered]: readonly string[]): OutcomeDetails => ({
  messageId: null,
  response: isAnswered === yes ? message : null,
  error: { code, message },
});
