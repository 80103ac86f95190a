import type { RecipientCounts } from "../job/events.ts";
import type { MailingResult } from "./events.ts";

export const noCounts: RecipientCounts = {
  total: 0,
  sent: 0,
  failed: 0,
  pending: 0,
  deferred: 0,
  unknown: 0,
  suppressed: 0,
};

export const addCounts = (one: RecipientCounts, other: RecipientCounts): RecipientCounts => ({
  total: one.total + other.total,
  sent: one.sent + other.sent,
  failed: one.failed + other.failed,
  pending: one.pending + other.pending,
  deferred: one.deferred + other.deferred,
  unknown: one.unknown + other.unknown,
  suppressed: one.suppressed + other.suppressed,
});

/**
 * The result of a mailing whose parts have all ended. A recipient that is still pending or deferred then was not reached: its
 * job has used up its attempts. A mailing failed if more than half of its recipients were not reached, above all if nothing
 * could be tried. Suppressed recipients were left out on purpose; whether an unknown one was reached, nobody can say.
 */
export function resultOf({ total, failed, pending, deferred, unknown }: RecipientCounts): MailingResult {
  const unreached = failed + pending + deferred;
  if (unreached * 2 > total) return "failed";
  return unreached + unknown > 0 ? "completed-with-failures" : "completed";
}
