import type { Knex } from "knex";
import type { Instant } from "../../src/domain/message.ts";
import { type MailCounts, type MailGrouping, mailCounts } from "../../src/domain/recipients/mail-counts.ts";
import { readCheckpoint } from "../following/checkpoint.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { hourOf, startOf } from "./count-mails.ts";
import { mailRatesProjector } from "./projector.ts";
import { mailRateTables } from "./rows.ts";

export type MailRate = { readonly name: string; readonly counts: MailCounts };
export type MailRatePoint = { readonly at: Instant; readonly counts: MailCounts };

/** From the hour of `from` up to that of `to`, which is the last one. */
export type MailRatesAsked = {
  /** Null for all tenants together. */
  readonly tenant: string | null;
  readonly grouping: MailGrouping;
  readonly from: Instant;
  readonly to: Instant;
};

export type MailRateQueries = {
  /** Those with the most answers first, `limit` at most. */
  byName(
    asked: MailRatesAsked,
    limit: number,
  ): Promise<{ readonly readSequence: number; readonly rates: readonly MailRate[] }>;
  /** The hours of one name that have an event, the oldest first. */
  overTime(
    asked: MailRatesAsked,
    name: string,
  ): Promise<{ readonly readSequence: number; readonly points: readonly MailRatePoint[] }>;
};

type Sums = Readonly<Record<keyof MailCounts, number | string>>;

export const createMailRateQueries = (db: Knex): MailRateQueries => {
  const sums = mailCounts.map((count) => db.raw("SUM(??) AS ??", [count, count]));
  const asRead = async <Row>(
    rows: (query: Knex.QueryBuilder) => PromiseLike<readonly Row[]>,
    asked: MailRatesAsked,
  ) => {
    // Reads the checkpoint first: the rows are then at least as new as it.
    const checkpoint = await readCheckpoint(db, mailRatesProjector.name);
    const { tenant, grouping, from, to } = asked;
    const query = db(mailRateTables("").rates)
      .where({ counted_by: grouping, ...(tenant !== null && { tenant }) })
      .andWhere("hour", ">=", startOf(hourOf(from)))
      .andWhere("hour", "<=", startOf(hourOf(to)));
    return { readSequence: checkpoint?.sequence ?? 0, rows: await rows(query) };
  };
  return onReadableRows(db, mailRatesProjector, {
    byName: async (asked, limit) => {
      const { rows, ...read } = await asRead<Sums & { readonly name: string }>(
        (query) =>
          query
            .select("name", ...sums)
            .groupBy("name")
            .orderByRaw("SUM(sent + deferred + failed) DESC, name")
            .limit(limit),
        asked,
      );
      return { ...read, rates: rows.map(({ name, ...row }) => ({ name, counts: toCounts(row) })) };
    },
    overTime: async (asked, name) => {
      const { rows, ...read } = await asRead<Sums & { readonly hour: Date }>(
        (query) =>
          query
            .where({ name })
            .select("hour", ...sums)
            .groupBy("hour")
            .orderBy("hour"),
        asked,
      );
      return { ...read, points: rows.map(({ hour, ...row }) => ({ at: hour.toISOString(), counts: toCounts(row) })) };
    },
  });
};

const toCounts = (row: Sums): MailCounts =>
  Object.fromEntries(mailCounts.map((count) => [count, Number(row[count])])) as MailCounts;
