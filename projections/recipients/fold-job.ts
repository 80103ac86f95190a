import type { Instant } from "../../src/domain/message.ts";
import type { RecipientEvent, RecipientOutcome } from "../../src/domain/recipients/events.ts";
import { beginRunInLedger, cell, type Ledger, recordInLedger } from "../../src/domain/recipients/ledger.ts";
import { type RecipientStatus, recipientStatusOf } from "../../src/domain/recipients/recipient-status.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import type { EventOf } from "../projector.ts";
import { toHistoryRecord } from "./history.ts";

/** The events that can change a recipient. */
export type EventOfRecipients = RecipientEvent | EventOf<"JobCreated" | "JobRetried" | "JobContentErased">;

/** The changes of one recipient within a batch: new records of its history, and the time of the last one. */
export type News = { history: string; at: Instant };

/**
 * The recipients of a job while events are folded: changed in place, as the ledger is. `news` is keyed by their index.
 */
export type FoldingRecipients = { readonly ledger: Ledger; readonly news: Map<number, News> };

/** Folds one event, and records the recipients that it changed: only their rows differ from the stored ones. */
export function foldEvent(recipients: FoldingRecipients, stored: StoredEvent<EventOfRecipients>): void {
  const { ledger } = recipients;
  const { event } = stored;
  switch (event.type) {
    case "JobCreated":
    case "JobContentErased":
      return;
    case "JobRetried":
      notingWhoChanges(recipients, [...ledger.cells.keys()], event.at, () => beginRunInLedger(ledger, event));
      return;
    case "RecipientsClaimed":
    case "RecipientsReleased":
      notingWhoChanges(recipients, event.data.recipients, event.at, () => recordInLedger(ledger, event));
      return;
    case "RecipientSent":
    case "RecipientDeferred":
    case "RecipientFailed":
    case "RecipientUnknown":
    case "RecipientSuppressed":
      foldOutcome(recipients, stored.sequence, event);
  }
}

function foldOutcome({ ledger, news }: FoldingRecipients, sequence: number, event: RecipientOutcome): void {
  const { recipient, run } = event.data;
  const before = ledger.cells[recipient];
  // The job has no such recipient: history without effect, as in every fold.
  if (before === undefined) return;
  recordInLedger(ledger, event);
  const after = ledger.cells[recipient];
  // Of the events that count, only this one can leave the cell unchanged: another deferral.
  const isPutOffAgain = event.type === "RecipientDeferred" && run === ledger.run && after === cell.deferred;
  note(news, recipient, event.at, toHistoryRecord(sequence, event, after !== before || isPutOffAgain));
}

function notingWhoChanges(
  { ledger, news }: FoldingRecipients,
  recipients: readonly number[],
  at: Instant,
  change: () => void,
): void {
  const before = recipients.map((recipient) => statusIn(ledger, recipient));
  change();
  recipients.forEach((recipient, place) => {
    if (statusIn(ledger, recipient) !== before[place]) note(news, recipient, at, "");
  });
}

function statusIn({ cells }: Ledger, recipient: number): RecipientStatus | null {
  const value = cells[recipient];
  return value === undefined ? null : recipientStatusOf(value);
}

function note(news: Map<number, News>, recipient: number, at: Instant, record: string): void {
  const known = news.get(recipient);
  if (known === undefined) {
    news.set(recipient, { history: record, at });
    return;
  }
  known.history += record;
  known.at = at;
}
