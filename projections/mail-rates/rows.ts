import { type MailCounts, type MailGrouping, mailCounts } from "../../src/domain/recipients/mail-counts.ts";
import type { Suffix } from "../projector.ts";

export const mailRateTables = (suffix: Suffix) => ({
  rates: `mail_rates${suffix}`,
  routes: `mail_rates_routes${suffix}`,
});

export type MailRateRow = MailCounts & {
  readonly tenant: string;
  readonly hour: Date;
  readonly counted_by: MailGrouping;
  readonly name: string;
};

/** The recipients of a job whose mails went by another route than the default one: what comes back is counted for it. */
export type RoutesRow = {
  readonly job_id: string;
  readonly last_sent_at: Date;
  /** Pairs of the number of a recipient and its route, as JSON. */
  readonly routes: string;
};

const counts = mailCounts.map((count) => `${count} BIGINT NOT NULL`).join(",\n  ");

export const mailRateTableDefinitions = {
  mail_rates: `
  tenant VARCHAR(64) NOT NULL,
  hour DATETIME(3) NOT NULL,
  counted_by VARCHAR(16) NOT NULL,
  name VARCHAR(255) COLLATE utf8mb4_bin NOT NULL,
  ${counts},
  PRIMARY KEY (tenant, hour, counted_by, name),
  KEY by_hour (hour, counted_by)`,
  mail_rates_routes: `
  job_id VARCHAR(64) NOT NULL,
  last_sent_at DATETIME(3) NOT NULL,
  routes MEDIUMTEXT NOT NULL,
  PRIMARY KEY (job_id),
  KEY by_time (last_sent_at)`,
};
