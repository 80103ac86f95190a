import type { Suffix } from "../projector.ts";

export const notificationTables = (suffix: Suffix) => ({
  notifications: `notifications${suffix}`,
  jobs: `notifications_jobs${suffix}`,
});

/**
 * One row for each run that ended, in the order of the log by `sequence`, that of its end. `asker` is who asked for
 * the job, and `progress` its counts as JSON.
 */
const notifications = `
  job_id VARCHAR(64) NOT NULL,
  run INT NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  asker VARCHAR(255) NOT NULL,
  sequence BIGINT NOT NULL,
  type VARCHAR(32) NOT NULL,
  progress VARCHAR(1000) NULL,
  error_code VARCHAR(64) NULL,
  error_message MEDIUMTEXT NULL,
  created_at DATETIME(3) NOT NULL,
  read_at DATETIME(3) NULL,
  PRIMARY KEY (job_id, run),
  KEY by_asker (tenant, asker, sequence),
  KEY by_unread (tenant, asker, read_at, sequence)`;

/** Who asked for a job, of every job that may yet end: a row goes when its job has ended for good. */
const jobs = `
  job_id VARCHAR(64) NOT NULL,
  asker VARCHAR(255) NOT NULL,
  run INT NOT NULL,
  PRIMARY KEY (job_id)`;

export const notificationTableDefinitions = { notifications, notifications_jobs: jobs };
