import type { Suffix } from "../../projector.ts";

export const statsTables = (suffix: Suffix) => ({
  waiting: `stats_waiting${suffix}`,
  minutes: `stats_minutes${suffix}`,
  hours: `stats_hours${suffix}`,
});

/**
 * The jobs that wait for a worker. Those with `is_timed` are scheduled, or wait for their next attempt, and wait for one once
 * `waiting_since` has come: no event says so.
 */
const waiting = `
  job_id VARCHAR(64) NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  priority VARCHAR(16) NOT NULL,
  is_timed TINYINT NOT NULL,
  waiting_since DATETIME(3) NOT NULL,
  PRIMARY KEY (job_id),
  KEY by_tenant_and_wait (tenant, priority, is_timed, waiting_since),
  KEY by_wait (priority, is_timed, waiting_since)`;

/** What happened in each stretch of time, a minute or an hour, that had an event: `column` is its beginning. */
const stretches = (column: "minute" | "hour") => `
  tenant VARCHAR(64) NOT NULL,
  ${column} DATETIME(3) NOT NULL,
  jobs_created BIGINT NOT NULL,
  jobs_completed BIGINT NOT NULL,
  jobs_failed BIGINT NOT NULL,
  jobs_cancelled BIGINT NOT NULL,
  mails_sent BIGINT NOT NULL,
  mails_failed BIGINT NOT NULL,
  mails_unknown BIGINT NOT NULL,
  mails_suppressed BIGINT NOT NULL,
  mails_bounced BIGINT NOT NULL,
  mails_complained BIGINT NOT NULL,
  PRIMARY KEY (tenant, ${column}),
  KEY by_${column} (${column})`;

export const statsTableDefinitions = {
  stats_waiting: waiting,
  stats_minutes: stretches("minute"),
  stats_hours: stretches("hour"),
};
