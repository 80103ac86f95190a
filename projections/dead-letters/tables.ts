import type { Suffix } from "../projector.ts";

export const deadLetterTables = (suffix: Suffix) => ({
  letters: `dead_letters${suffix}`,
  jobs: `dead_letters_jobs${suffix}`,
});

/**
 * One row for each run that failed, in the order of the log by `sequence`, that of its JobFailed. Name and subject are
 * content, and null where it was erased before the failure was projected.
 */
const letters = `
  job_id VARCHAR(64) NOT NULL,
  run INT NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  sequence BIGINT NOT NULL,
  type VARCHAR(32) NOT NULL,
  name VARCHAR(1000) COLLATE utf8mb4_unicode_ci NULL,
  subject VARCHAR(1000) COLLATE utf8mb4_unicode_ci NULL,
  attempt INT NOT NULL,
  error_code VARCHAR(64) NOT NULL,
  error_message MEDIUMTEXT NOT NULL,
  total INT NOT NULL,
  sent INT NOT NULL,
  failed INT NOT NULL,
  pending INT NOT NULL,
  deferred INT NOT NULL,
  \`unknown\` INT NOT NULL,
  suppressed INT NOT NULL,
  failed_at DATETIME(3) NOT NULL,
  status VARCHAR(16) NOT NULL,
  requeued_as VARCHAR(64) NULL,
  reason MEDIUMTEXT NULL,
  decided_by VARCHAR(255) NULL,
  decided_at DATETIME(3) NULL,
  PRIMARY KEY (job_id, run),
  KEY by_failure (tenant, sequence),
  KEY by_status_and_failure (tenant, status, sequence),
  KEY by_status (status)`;

/** What a failure does not say itself, of every job that may yet fail: a row goes when its job has ended for good. */
const jobs = `
  job_id VARCHAR(64) NOT NULL,
  type VARCHAR(32) NOT NULL,
  total INT NOT NULL,
  PRIMARY KEY (job_id)`;

export const deadLetterTableDefinitions = { dead_letters: letters, dead_letters_jobs: jobs };
