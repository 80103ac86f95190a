import type { RecipientCounts } from "../job/events.ts";
import type { SendingWindow } from "./window.ts";

/** What keeps a mailing from going out all at once. */
export type Brakes = {
  /** The most recipients an hour; null for no limit. */
  readonly ratePerHour: number | null;
  /** The first hour, and by how much each hour may have more than the one before; null for a mailing that begins at its rate. */
  readonly rampUp: { readonly firstHour: number; readonly growth: number } | null;
  /** Null for at any time. */
  readonly window: SendingWindow | null;
  /** Null for a mailing that nothing stops but people. */
  readonly stopWhen: StopWhen | null;
};

/** It stops by itself once more than this share of the recipients that were tried has failed, if they are at least `after`. */
export type StopWhen = { readonly failureRate: number; readonly after: number };

/** How many recipients were tried, and have failed. */
export type Tried = { readonly tried: number; readonly failed: number };

export const noneTried: Tried = { tried: 0, failed: 0 };

/** Recipients that were left out on purpose were not tried. */
export const triedOf = ({ sent, failed, deferred, unknown }: RecipientCounts): Tried => ({
  tried: sent + failed + deferred + unknown,
  failed: failed + deferred,
});

/** What has gone wrong since `before`, if that is too much; null if it is not. */
export function whyStop(stopWhen: StopWhen | null, now: Tried, before: Tried): Tried | null {
  if (stopWhen === null) return null;
  const since = { tried: now.tried - before.tried, failed: now.failed - before.failed };
  return since.tried >= stopWhen.after && since.failed > stopWhen.failureRate * since.tried ? since : null;
}
