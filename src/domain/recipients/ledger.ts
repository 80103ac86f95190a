import type { JobEvent, OnUnknown, RecipientCounts, RetryScope } from "../job/events.ts";
import { outcomeUnknown, type RecipientEvent } from "./events.ts";

/** One byte for each recipient, so that a ledger fits in a row of a table. The values are stored: never change one. */
export const cell = {
  pending: 0,
  /** Handed to the mail server, or about to be; without a later outcome it is unknown which. */
  claimed: 1,
  deferred: 2,
  sent: 3,
  failed: 4,
  unknown: 5,
  /** Not sent, and not included in the retry that began this run. */
  leftOut: 6,
  /**
   * Counted as failed, unknown or suppressed in this run, but the mail was sent after all: no later run sends it again.
   */
  failedYetSent: 7,
  unknownYetSent: 8,
  suppressed: 9,
  suppressedYetSent: 10,
} as const;

const open: readonly number[] = [cell.pending, cell.claimed, cell.deferred, cell.leftOut];

const isFinal = (value: number | undefined): boolean => value !== undefined && !open.includes(value);

/**
 * The state of each recipient of one job. It is folded in place, because a mailing makes thousands of events and every
 * read model folds them again; only the code that folds it may keep a reference meanwhile.
 */
export type Ledger = {
  run: number;
  readonly cells: Uint8Array;
  /** How often a mail to the recipient was left without an answer in this run; read models do not keep it. */
  doubts?: Map<number, number>;
};

export const emptyLedger = (total: number): Ledger => ({ run: 1, cells: new Uint8Array(total) });

/**
 * The one rule that workers, folds and read models share: of a recipient's outcomes within a run the first final one
 * stands, and later ones are history without effect. A mail that was sent counts as sent whichever run sent it.
 */
export function recordInLedger(ledger: Ledger, event: RecipientEvent): void {
  switch (event.type) {
    case "RecipientsClaimed":
      for (const recipient of event.data.recipients) settle(ledger, event.data.run, recipient, cell.claimed);
      return;
    case "RecipientsReleased":
      for (const recipient of event.data.recipients) release(ledger, event.data.run, recipient);
      return;
    case "RecipientSent":
      settleSent(ledger, event.data.recipient);
      return;
    case "RecipientDeferred":
      if (event.data.error.code === outcomeUnknown) countDoubt(ledger, event.data);
      settle(ledger, event.data.run, event.data.recipient, cell.deferred);
      return;
    case "RecipientFailed":
      settle(ledger, event.data.run, event.data.recipient, cell.failed);
      return;
    case "RecipientUnknown":
      settle(ledger, event.data.run, event.data.recipient, cell.unknown);
      return;
    case "RecipientSuppressed":
      settle(ledger, event.data.run, event.data.recipient, cell.suppressed);
  }
}

function countDoubt(ledger: Ledger, { run, recipient }: { readonly run: number; readonly recipient: number }): void {
  if (run !== ledger.run) return;
  ledger.doubts ??= new Map();
  ledger.doubts.set(recipient, timesInDoubt(ledger, recipient) + 1);
}

function settle(ledger: Ledger, run: number, recipient: number, value: number): void {
  if (run !== ledger.run || recipient >= ledger.cells.length || isFinal(ledger.cells[recipient])) return;
  ledger.cells[recipient] = value;
}

function settleSent(ledger: Ledger, recipient: number): void {
  const value = ledger.cells[recipient];
  if (value === cell.failed) ledger.cells[recipient] = cell.failedYetSent;
  else if (value === cell.unknown) ledger.cells[recipient] = cell.unknownYetSent;
  else if (value === cell.suppressed) ledger.cells[recipient] = cell.suppressedYetSent;
  else settle(ledger, ledger.run, recipient, cell.sent);
}

/** Only a claim can be released: an outcome that came first stands. */
function release(ledger: Ledger, run: number, recipient: number): void {
  if (run === ledger.run && ledger.cells[recipient] === cell.claimed) ledger.cells[recipient] = cell.pending;
}

/** How often, in this run, a mail to the recipient was left without an answer and is to be sent again. */
export const timesInDoubt = ({ doubts }: Ledger, recipient: number): number => doubts?.get(recipient) ?? 0;

/** Whether the recipient has an outcome that stands. */
export const isSettled = ({ cells }: Ledger, recipient: number): boolean => isFinal(cells[recipient]);

/** Begins the next run: the recipients that the retry includes are pending again, and sent ones stay sent. */
export function beginRunInLedger(ledger: Ledger, retried: Extract<JobEvent, { type: "JobRetried" }>): void {
  ledger.run = retried.data.run;
  delete ledger.doubts;
  ledger.cells.forEach((value, recipient) => {
    ledger.cells[recipient] = retriedCell(value, retried.data.scope);
  });
}

const yetSent: readonly number[] = [cell.failedYetSent, cell.unknownYetSent, cell.suppressedYetSent];

/**
 * A claim without an outcome is in no scope: the worker of the new run finds it and treats it as unknown. Suppressed
 * recipients are checked again together with all unsent ones, and mailed only if no suppression applies any more.
 */
function retriedCell(value: number, scope: RetryScope): number {
  if (yetSent.includes(value)) return cell.sent;
  if (value === cell.sent || value === cell.claimed) return value;
  switch (scope) {
    case "failed":
      return value === cell.unknown ? value : cell.pending;
    case "unsent":
      return value === cell.unknown || value === cell.failed ? value : cell.pending;
    case "unknown":
      if (value === cell.unknown) return cell.pending;
      return value === cell.failed || value === cell.suppressed ? value : cell.leftOut;
  }
}

const having =
  (...values: readonly number[]) =>
  (ledger: Ledger): number[] =>
    Array.from(ledger.cells.keys()).filter((recipient) => values.includes(ledger.cells[recipient] ?? -1));

/** Recipients to mail in this attempt, in their order in the content. */
export const recipientsToMail = having(cell.pending, cell.deferred);
/** Claimed recipients without an outcome: a crash left them in doubt. */
export const recipientsInDoubt = having(cell.claimed);
/** Recipients that a mail server deferred. */
export const deferredRecipients = having(cell.deferred);

/**
 * Recipients that another job may mail in place of this one, once this one mails no more: unsent ones, and those in
 * doubt only if the job asked to send again. The other job checks suppressed ones again.
 */
export const recipientsToTakeUp = (ledger: Ledger, onUnknown: OnUnknown): number[] => {
  const inDoubt = onUnknown === "resend" ? [cell.claimed, cell.unknown] : [];
  return having(cell.pending, cell.deferred, cell.failed, cell.suppressed, cell.leftOut, ...inDoubt)(ledger);
};

export function countRecipients(ledger: Ledger): RecipientCounts {
  const tally = new Array<number>(Object.keys(cell).length).fill(0);
  for (const value of ledger.cells) tally[value] = (tally[value] ?? 0) + 1;
  const of = (value: number): number => tally[value] ?? 0;
  return {
    total: ledger.cells.length,
    sent: of(cell.sent),
    failed: of(cell.failed) + of(cell.failedYetSent),
    pending: of(cell.pending) + of(cell.claimed) + of(cell.leftOut),
    deferred: of(cell.deferred),
    unknown: of(cell.unknown) + of(cell.unknownYetSent),
    suppressed: of(cell.suppressed) + of(cell.suppressedYetSent),
  };
}

/**
 * The rule of half: a job fails if more than half of its recipients failed. A suppressed recipient is not a failure.
 */
export const hasTooManyFailures = (counts: RecipientCounts): boolean => counts.failed * 2 > counts.total;
