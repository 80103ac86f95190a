import type { RecipientCounts } from "../job/events.ts";
import { cell } from "./ledger.ts";

/**
 * The status of a recipient, in the words of the job's progress: counting these statuses gives the progress counters.
 */
export type RecipientStatus = Exclude<keyof RecipientCounts, "total">;

/**
 * Declared as an object, so that the compiler checks that none is missing; it types the keys of any object as plain
 * strings.
 */
export const recipientStatuses = Object.keys({
  pending: true,
  sent: true,
  failed: true,
  deferred: true,
  unknown: true,
  suppressed: true,
} satisfies Record<RecipientStatus, true>) as readonly RecipientStatus[];

/** What recipients can be looked up by: their status, or what came back about their mail. */
export type RecipientFilter = RecipientStatus | "bounced" | "complained";

export const recipientFilters: readonly RecipientFilter[] = [...recipientStatuses, "bounced", "complained"];

const statusByName = {
  pending: "pending",
  claimed: "pending",
  deferred: "deferred",
  sent: "sent",
  failed: "failed",
  unknown: "unknown",
  leftOut: "pending",
  failedYetSent: "failed",
  unknownYetSent: "unknown",
  suppressed: "suppressed",
  suppressedYetSent: "suppressed",
} as const satisfies Readonly<Record<keyof typeof cell, RecipientStatus>>;

const statusByValue: ReadonlyMap<number, RecipientStatus> = new Map(
  Object.entries(cell).map(([name, value]) => [value, statusByName[name as keyof typeof cell]]),
);

/** The status of one cell of a ledger. Throws for an invalid value. */
export function recipientStatusOf(value: number): RecipientStatus {
  const status = statusByValue.get(value);
  if (status === undefined) throw new RangeError(`A ledger holds ${value}, which is not the status of a recipient.`);
  return status;
}
