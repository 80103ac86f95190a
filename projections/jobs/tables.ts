import type { Suffix } from "../projector.ts";
import { mailingTableDefinitions, mailingTables } from "./mailings/rows.ts";
import {
  recipientQueryKeys,
  recipientTableDefinitions,
  recipientTables,
  recipientViewDefinitions,
} from "./recipients/rows.ts";
import { statsTableDefinitions, statsTables } from "./stats/tables.ts";

export const jobTables = (suffix: Suffix) => ({
  jobs: `jobs${suffix}`,
  counts: `jobs_counts${suffix}`,
  contents: `jobs_content${suffix}`,
  ledgers: `jobs_ledgers${suffix}`,
  blocks: `jobs_blocks${suffix}`,
  ...mailingTables(suffix),
  ...recipientTables(suffix),
  ...statsTables(suffix),
});

/**
 * A row of `jobs` holds everything that its fold needs to continue, except the ledger, which has its own table because
 * it is large and no list shows it. `place` is that of the JobCreated event: the rows of recipients name the job by it.
 * `outcome_sequence` is that of the last outcome in `recipients`: what comes back about mails raises `last_sequence` alone.
 */
const jobs = `
  id VARCHAR(64) NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  type VARCHAR(32) NOT NULL,
  status VARCHAR(16) NOT NULL,
  priority VARCHAR(16) NOT NULL,
  name VARCHAR(300) COLLATE utf8mb4_unicode_ci NULL,
  subject VARCHAR(300) COLLATE utf8mb4_unicode_ci NULL,
  metadata MEDIUMTEXT NOT NULL,
  run INT NOT NULL,
  attempt INT NOT NULL,
  max_attempts INT NOT NULL,
  total INT NOT NULL,
  sent INT NOT NULL,
  failed INT NOT NULL,
  pending INT NOT NULL,
  deferred INT NOT NULL,
  \`unknown\` INT NOT NULL,
  suppressed INT NOT NULL,
  bounced INT NOT NULL,
  complained INT NOT NULL,
  duplicates INT NOT NULL,
  content_sha256 CHAR(64) NOT NULL,
  request_sha256 CHAR(64) NULL,
  on_unknown VARCHAR(16) NOT NULL,
  requeue_of VARCHAR(64) NULL,
  mailing_id VARCHAR(64) NULL,
  group_sha256 CHAR(64) NULL,
  retry_delay_ms BIGINT NULL,
  created_at DATETIME(3) NOT NULL,
  scheduled_at DATETIME(3) NULL,
  not_after DATETIME(3) NULL,
  started_at DATETIME(3) NULL,
  completed_at DATETIME(3) NULL,
  next_attempt_at DATETIME(3) NULL,
  error_code VARCHAR(64) NULL,
  error_message MEDIUMTEXT NULL,
  place BIGINT NOT NULL,
  last_sequence BIGINT NOT NULL,
  outcome_sequence BIGINT NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY by_place (place)`;

/**
 * Their columns end in the sort column, then `id`, so that no two rows tie. The first also holds the searched columns: a
 * search reads the tenant's own entries and no rows. A key has at most 3072 bytes, which is 300 characters for each of
 * the two; requests allow 200.
 */
const jobsQueryKeys = {
  by_creation: "tenant, created_at, id, subject, name",
  by_mailing: "tenant, mailing_id, created_at, id",
  by_status_and_creation: "tenant, status, created_at, id",
  by_completion: "tenant, completed_at, id",
  by_status_and_completion: "tenant, status, completed_at, id",
};

/**
 * The number of rows of `jobs` in each group, kept up to date with them: counting takes longer with every job. `retired`
 * is the number of those that are no longer in `jobs`, `unsent` that of recipients that are still to be served.
 */
const counts = `
  tenant VARCHAR(64) NOT NULL,
  status VARCHAR(16) NOT NULL,
  type VARCHAR(32) NOT NULL,
  priority VARCHAR(16) NOT NULL,
  jobs BIGINT NOT NULL,
  retired BIGINT NOT NULL,
  unsent BIGINT NOT NULL,
  PRIMARY KEY (tenant, status, type, priority)`;

/** Content and recipients; no row once they were erased. `recipients` is a JSON array of addresses. */
const contents = `
  job_id VARCHAR(64) NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  body MEDIUMTEXT NULL,
  text MEDIUMTEXT NULL,
  recipients MEDIUMTEXT NOT NULL,
  PRIMARY KEY (job_id)`;

/**
 * The state of each recipient, a byte each (see stored-cells.ts), as of `run`, and since when that lasts. So is what came
 * back about its mail; null where nothing did.
 */
const ledgers = `
  job_id VARCHAR(64) NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  run INT NOT NULL,
  run_began_at DATETIME(3) NOT NULL,
  cells VARBINARY(1000) NOT NULL,
  feedback VARBINARY(1000) NULL,
  PRIMARY KEY (job_id)`;

/** Which blocks of the log have events of jobs of a tenant; see tenant-blocks.ts. */
const blocks = `
  tenant VARCHAR(64) NOT NULL,
  block BIGINT NOT NULL,
  PRIMARY KEY (tenant, block)`;

/** The columns that reporting tools of earlier systems know, under their names there. */
const emailJobs = `
  SELECT job.id AS id, job.subject AS subject, content.body AS body, content.recipients AS recipients,
    job.status AS status, job.total AS totalEmails, job.sent AS sentEmails, job.failed AS failedEmails,
    job.created_at AS createdAt, job.started_at AS startedAt, job.completed_at AS completedAt,
    job.error_message AS error
  FROM jobs AS job LEFT JOIN jobs_content AS content ON content.job_id = job.id`;

export const jobTableDefinitions = {
  jobs,
  jobs_counts: counts,
  jobs_content: contents,
  jobs_ledgers: ledgers,
  jobs_blocks: blocks,
  ...mailingTableDefinitions,
  ...recipientTableDefinitions,
  ...statsTableDefinitions,
};
export const jobQueryKeys = { jobs: jobsQueryKeys, ...recipientQueryKeys };
export const jobViewDefinitions = { email_jobs: emailJobs, ...recipientViewDefinitions };
