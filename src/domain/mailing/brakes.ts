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

/**
 * It stops by itself once more than one of these shares is exceeded, of at least `after` recipients: `failureRate` of those
 * that were tried has failed; of those that were sent, `bounceRate` came back for good and `complaintRate` complained. A
 * share that is null or absent stops nothing.
 */
export type StopWhen = {
  readonly failureRate: number | null;
  readonly bounceRate?: number;
  readonly complaintRate?: number;
  readonly after: number;
};

/** How many recipients were tried, and have failed. */
export type Tried = { readonly tried: number; readonly failed: number };

/** Why it stopped: of so many, so many failed, or came back, or complained. */
export type StoppedBy = Tried & { readonly of?: "bounces" | "complaints" };

export const noneTried: Tried = { tried: 0, failed: 0 };

/** Recipients that were left out on purpose were not tried. */
export const triedOf = ({ sent, failed, deferred, unknown }: RecipientCounts): Tried => ({
  tried: sent + failed + deferred + unknown,
  failed: failed + deferred,
});

/** What has gone wrong since `before`, if that is too much; null if it is not. */
export function whyStop(stopWhen: StopWhen | null, now: Tried, before: Tried): StoppedBy | null {
  if (stopWhen === null || stopWhen.failureRate === null) return null;
  const since = { tried: now.tried - before.tried, failed: now.failed - before.failed };
  return isTooMuch(since, stopWhen.failureRate, stopWhen.after) ? since : null;
}

/** Hard bounces and complaints, of mails sent. */
export type Reports = { readonly sent: number; readonly bounced: number; readonly complained: number };

export const noReports: Reports = { sent: 0, bounced: 0, complained: 0 };

/** The same of what came back. */
export function whyStopForReports(stopWhen: StopWhen | null, now: Reports, before: Reports): StoppedBy | null {
  if (stopWhen === null) return null;
  const { bounceRate = null, complaintRate = null, after } = stopWhen;
  const tried = now.sent - before.sent;
  const bounces = { tried, failed: now.bounced - before.bounced, of: "bounces" } as const;
  if (bounceRate !== null && isTooMuch(bounces, bounceRate, after)) return bounces;
  const complaints = { tried, failed: now.complained - before.complained, of: "complaints" } as const;
  return complaintRate !== null && isTooMuch(complaints, complaintRate, after) ? complaints : null;
}

/** Whether it is to be known of each mailing with these rules what came back. */
export const asksForReports = (brakes: Brakes | null): boolean =>
  brakes?.stopWhen?.bounceRate !== undefined || brakes?.stopWhen?.complaintRate !== undefined;

const isTooMuch = ({ tried, failed }: Tried, rate: number, after: number): boolean =>
  tried >= after && failed > rate * tried;

/** `120 of 1000 recipients failed.` */
export function stopInWords({ tried, failed, of }: StoppedBy): string {
  if (of === undefined) return `${failed} of ${tried} recipients failed.`;
  return of === "bounces"
    ? `${failed} of ${tried} mails came back for good.`
    : `${failed} of ${tried} recipients complained.`;
}
