import type { Suffix } from "../projector.ts";

export const logErasuresTable = (suffix: Suffix): string => `logs_erasures${suffix}`;

export const logsTable = (suffix: Suffix): string => `logs${suffix}`;

/**
 * One row for each outcome of a recipient, in the order of the log within its job. `email` is null where the content
 * was erased before the outcome was projected; `response` where no mail server answered. Addresses are long enough
 * for what is a URL in jobs of other types.
 */
const logs = `
  job_id VARCHAR(64) NOT NULL,
  sequence BIGINT NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  recipient INT NOT NULL,
  email VARCHAR(2048) NULL,
  status VARCHAR(16) NOT NULL,
  run INT NOT NULL,
  attempt INT NOT NULL,
  message_id VARCHAR(998) NULL,
  response MEDIUMTEXT NULL,
  error_code VARCHAR(64) NULL,
  error_message MEDIUMTEXT NULL,
  sent_at DATETIME(3) NULL,
  created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (job_id, sequence),
  KEY by_time (tenant, created_at, sequence)`;

/** The columns that reporting tools of earlier systems know, and their names. */
const emailLogs = `
  SELECT sequence AS id, job_id AS jobId, email AS email, status AS status, attempt AS attempt, sent_at AS sentAt,
    error_message AS error, created_at AS createdAt
  FROM logs`;

/** What was erased: one row for each recipient, or with -1 for all. It is asked for outcomes that come after that. */
const erasures = `
  job_id VARCHAR(64) NOT NULL,
  recipient INT NOT NULL,
  PRIMARY KEY (job_id, recipient)`;

export const logTableDefinitions = { logs, logs_erasures: erasures };
export const logViewDefinitions = { email_logs: emailLogs };
