import type { Suffix } from "../projector.ts";

export const statsTables = (suffix: Suffix) => ({
  jobs: `stats_jobs${suffix}`,
  counts: `stats_counts${suffix}`,
  minutes: `stats_minutes${suffix}`,
});

/**
 * One row for each job that something can still happen to: what the next event changes depends on it. `waiting_since`
 * is null but for those that wait for a worker. `cells` is the ledger: see src/domain/recipients/ledger.ts.
 */
const jobs = `
  job_id VARCHAR(64) NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  priority VARCHAR(16) NOT NULL,
  status VARCHAR(16) NOT NULL,
  run INT NOT NULL,
  attempt INT NOT NULL,
  opening INT NOT NULL,
  waiting_since DATETIME(3) NULL,
  ledger_run INT NOT NULL,
  cells VARBINARY(1000) NOT NULL,
  PRIMARY KEY (job_id),
  KEY by_tenant_and_wait (tenant, priority, waiting_since),
  KEY by_wait (priority, waiting_since)`;

/** How many jobs there are, and how many of their mails are still to be sent: read instead of counting, however many. */
const counts = `
  tenant VARCHAR(64) NOT NULL,
  status VARCHAR(16) NOT NULL,
  priority VARCHAR(16) NOT NULL,
  jobs BIGINT NOT NULL,
  unsent BIGINT NOT NULL,
  PRIMARY KEY (tenant, status, priority)`;

/** What happened in each minute in which something did. */
const minutes = `
  tenant VARCHAR(64) NOT NULL,
  minute DATETIME(3) NOT NULL,
  jobs_created BIGINT NOT NULL,
  jobs_completed BIGINT NOT NULL,
  jobs_failed BIGINT NOT NULL,
  jobs_cancelled BIGINT NOT NULL,
  mails_sent BIGINT NOT NULL,
  mails_failed BIGINT NOT NULL,
  mails_unknown BIGINT NOT NULL,
  mails_suppressed BIGINT NOT NULL,
  PRIMARY KEY (tenant, minute),
  KEY by_minute (minute)`;

export const statsTableDefinitions = { stats_jobs: jobs, stats_counts: counts, stats_minutes: minutes };
