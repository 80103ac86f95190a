import type { Suffix } from "../projector.ts";

export const statsTables = (suffix: Suffix) => ({
  jobs: `stats_jobs${suffix}`,
  counts: `stats_counts${suffix}`,
  minutes: `stats_minutes${suffix}`,
});

/**
 * One row for each job that can still change: the effect of the next event depends on it. `waiting_since` is null
 * except for jobs that wait for a worker. `cells` is the ledger: see src/domain/recipients/ledger.ts.
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

/** The number of jobs, and of their mails still to be sent: read in place of counting, however many there are. */
const counts = `
  tenant VARCHAR(64) NOT NULL,
  status VARCHAR(16) NOT NULL,
  priority VARCHAR(16) NOT NULL,
  jobs BIGINT NOT NULL,
  unsent BIGINT NOT NULL,
  PRIMARY KEY (tenant, status, priority)`;

/** What happened in each minute that had an event. */
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
