import type { JobContent } from "../../src/content/content-store.ts";
import type { EventOfJob } from "../../src/domain/job/job-view.ts";
import { addressOf } from "../../src/domain/recipients/address.ts";
import { type MailCounts, type MailGrouping, noMails } from "../../src/domain/recipients/mail-counts.ts";
import { type Providers, providersOf, receiverOf } from "../../src/domain/throttles/providers.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
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

export type NamedInHour = Pick<MailRateRow, "tenant" | "hour" | "counted_by" | "name">;

export type MailTally = {
  add(tenant: string, hour: Date, grouping: MailGrouping, name: string, count: keyof MailCounts): void;
  rows(): readonly MailRateRow[];
};

/**
 * Adds up what happened. `known` are the names that the hours have already: as many as may be are kept apart, in the order
 * in which they came.
 */
export function createTally(known: readonly NamedInHour[]): MailTally {
  const namesOf = new Map<string, Set<string>>();
  const rows = new Map<string, { -readonly [Column in keyof MailRateRow]: MailRateRow[Column] }>();
  const namesIn = (tenant: string, hour: Date, grouping: MailGrouping): Set<string> => {
    const key = `${tenant} ${hour.getTime()} ${grouping}`;
    const names = namesOf.get(key) ?? new Set();
    namesOf.set(key, names);
    return names;
  };
  for (const { tenant, hour, counted_by, name } of known) namesIn(tenant, hour, counted_by).add(name);
  return {
    add: (tenant, hour, grouping, wanted, count) => {
      const names = namesIn(tenant, hour, grouping);
      const name = names.has(wanted) || names.size < namesPerHour ? wanted : otherName;
      names.add(name);
      const key = `${tenant} ${hour.getTime()} ${grouping} ${name}`;
      const row = rows.get(key) ?? { tenant, hour, counted_by: grouping, name, ...noMails };
      row[count] += 1;
      rows.set(key, row);
    },
    rows: () => [...rows.values()],
  };
}
