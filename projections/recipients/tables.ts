import type { Suffix } from "../projector.ts";

export const recipientTables = (suffix: Suffix) => ({
  recipients: `recipients${suffix}`,
  jobs: `recipients_jobs${suffix}`,
});

/**
 * One row for each recipient of each job, there from the moment the job is. `sequence` is that of the job's JobCreated:
 * it stands for the job, because the id is five times as long and would be in every entry of both indexes, and the
 * newest mailing to an address has the highest. `history` is a record for each outcome, in the order of the log (see
 * history.ts).
 *
 * `email` as it was given, and `address`, by which it is found, are all that a row knows of the person: both are null
 * once that was erased, for one recipient by the primary key, for a whole job by its first part.
 */
const recipients = `
  sequence BIGINT NOT NULL,
  recipient INT NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  email VARCHAR(2048) COLLATE utf8mb4_unicode_ci NULL,
  address VARCHAR(255) NULL,
  status VARCHAR(16) NOT NULL,
  history MEDIUMTEXT NOT NULL,
  updated_at DATETIME(3) NOT NULL,
  PRIMARY KEY (sequence, recipient),
  KEY by_address (tenant, address, sequence, recipient)`;

/**
 * What recipients of a job have in common, and its ledger, from which the fold goes on: a byte each, as of `run` (see
 * src/domain/recipients/ledger.ts). Name and subject are content, and null once that was erased.
 */
const jobs = `
  job_id VARCHAR(64) NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  sequence BIGINT NOT NULL,
  type VARCHAR(32) NOT NULL,
  name VARCHAR(1000) COLLATE utf8mb4_unicode_ci NULL,
  subject VARCHAR(1000) COLLATE utf8mb4_unicode_ci NULL,
  created_at DATETIME(3) NOT NULL,
  run INT NOT NULL,
  cells VARBINARY(1000) NOT NULL,
  PRIMARY KEY (job_id),
  UNIQUE KEY by_sequence (sequence)`;

export const recipientTableDefinitions = { recipients, recipients_jobs: jobs };
