import type { JobContent } from "../../src/content/content-store.ts";
import type { EventOfJob } from "../../src/domain/job/job-view.ts";
import type { Instant } from "../../src/domain/message.ts";
import { addressOf } from "../../src/domain/recipients/address.ts";
import { type MailCounts, type MailGrouping, noMails } from "../../src/domain/recipients/mail-counts.ts";
import { type Providers, providersOf, receiverOf } from "../../src/domain/throttles/providers.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { toInstant } from "../instants.ts";
import type { MailRateRow } from "./rows.ts";

export const countedTypes = [
  "RecipientSent",
  "RecipientDeferred",
  "RecipientFailed",
  "RecipientBounced",
  "RecipientComplained",
] as const;

/** What is counted: the answers of mail servers, and what came back. */
export type Counted = StoredEvent<Extract<EventOfJob, { readonly type: (typeof countedTypes)[number] }>>;

/** What a mail is counted by, besides its route. */
export type MailsOfJob = {
  readonly sender: string;
  /** Null for a recipient that was erased, or is none. */
  readonly receiverOf: (recipient: number) => string | null;
};

/** The route of a mail that names none, and the sender of a job that leaves it to the service. */
export const defaultName = "default";

/** What more of in an hour is counted for: together. */
export const otherName = "*";
/** Of each grouping, for each tenant and hour. */
export const namesPerHour = 500;

/** The groups of an operator are a setting, which may change: a rebuild is to count as was counted before. */
const providers: Providers = providersOf([]);

/** Null for a job whose recipients get no mails. */
export function mailsOf({ subject, from, recipients }: JobContent): MailsOfJob | null {
  if (subject === null) return null;
  return {
    sender: from === null ? defaultName : nameOf(receiverOf(addressOf(from), noProviders)),
    receiverOf: (index) => {
      const recipient = recipients[index] ?? null;
      return recipient && nameOf(receiverOf(recipient.email, providers));
    },
  };
}

/** The domain of a sender stands for itself. */
const noProviders: Providers = new Map();

const nameOf = (domain: string): string => domain.trim().slice(0, 255);

/** Which count an event adds to; null for a mail that no server has answered. */
export function countOf({ event }: Counted): keyof MailCounts | null {
  switch (event.type) {
    case "RecipientSent":
      return "sent";
    case "RecipientDeferred":
      return event.data.error.replyCode === null ? null : "deferred";
    case "RecipientFailed":
      return event.data.error.replyCode === null ? null : "failed";
    case "RecipientBounced":
      return "bounced";
    case "RecipientComplained":
      return "complained";
  }
}

/** An hour by the first 13 characters of its instants, `2026-11-21T09`. */
export type Hour = string;

export const hourOf = (at: Instant): Hour => at.slice(0, 13);
export const startOf = (hour: Hour): Date => new Date(`${hour}:00:00.000Z`);

export type NamedInHour = Pick<MailRateRow, "tenant" | "hour" | "counted_by" | "name">;

type Writable<Row> = { -readonly [Column in keyof Row]: Row[Column] };

export type HourTally = {
  add(grouping: MailGrouping, name: string, count: keyof MailCounts): void;
};

export type MailTally = {
  of(tenant: string, hour: Hour): HourTally;
  rows(): readonly MailRateRow[];
};

/**
 * Adds up what happened. `known` are the names that the hours have already: as many as may be are kept apart, in the order
 * in which they came.
 */
export function createTally(known: readonly NamedInHour[]): MailTally {
  const tallies = new Map<string, ReturnType<typeof createHourTally>>();
  const of = (tenant: string, hour: Hour): ReturnType<typeof createHourTally> => {
    const key = `${tenant} ${hour}`;
    const tally = tallies.get(key) ?? createHourTally(tenant, startOf(hour));
    tallies.set(key, tally);
    return tally;
  };
  for (const { tenant, hour, counted_by, name } of known) of(tenant, hourOf(toInstant(hour))).know(counted_by, name);
  return { of, rows: () => [...tallies.values()].flatMap((tally) => tally.rows()) };
}

function createHourTally(tenant: string, hour: Date) {
  const row = (counted_by: MailGrouping, name: string): Writable<MailRateRow> => ({
    tenant,
    hour,
    counted_by,
    name,
    ...noMails,
  });
  /** By their names; null where nothing is to be added. */
  const rowsBy: Record<MailGrouping, Map<string, Writable<MailRateRow> | null>> = {
    sender: new Map(),
    route: new Map(),
    receiver: new Map(),
  };
  return {
    know: (grouping: MailGrouping, name: string): void => void rowsBy[grouping].set(name, null),
    add: (grouping: MailGrouping, wanted: string, count: keyof MailCounts): void => {
      const rows = rowsBy[grouping];
      const name = rows.has(wanted) || rows.size < namesPerHour ? wanted : otherName;
      const counted = rows.get(name) ?? row(grouping, name);
      counted[count] += 1;
      rows.set(name, counted);
    },
    rows: (): readonly MailRateRow[] =>
      Object.values(rowsBy).flatMap((rows) => [...rows.values()].filter((counted) => counted !== null)),
  };
}
