import { countRecipients, hasTooManyFailures } from "../domain/recipients/ledger.ts";
import type { AttemptEnd, HeldTurn } from "./turn.ts";

/** What is known of an attempt besides its ledger. */
export type Tried = {
  /** Whether somebody was deferred for the last time. */
  readonly isExhausted: () => boolean;
  /** The longest that somebody asked to be left alone. */
  readonly notBeforeMs: () => number;
};

/** Everybody who was to be served has been tried. */
export function endOfAttempt({ ledger }: HeldTurn, { isExhausted, notBeforeMs }: Tried): AttemptEnd {
  const counts = countRecipients(ledger);
  if (counts.deferred > 0) {
    const message = `${counts.deferred} of ${counts.total} recipients are to be tried again.`;
    const error = { code: "recipients-deferred", message };
    return { kind: "try-again", counts, error, notBeforeMs: notBeforeMs() };
  }
  if (isExhausted()) {
    const message = "Some recipients were deferred on every attempt, the last one included.";
    return { kind: "failed", counts, error: { code: "attempts-exhausted", message } };
  }
  if (hasTooManyFailures(counts)) {
    const message = `${counts.failed} of ${counts.total} recipients failed, more than half.`;
    return { kind: "failed", counts, error: { code: "too-many-failures", message } };
  }
  return { kind: "completed", counts };
}
