import type { Suffix } from "../projector.ts";

export const waitingTable = (suffix: Suffix): string => `waiting${suffix}`;

/** One row for each job that waits for a time. \`cause_*\` is the decision that made it wait. */
const waiting = `
  job_id VARCHAR(64) NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  due_at DATETIME(3) NOT NULL,
  run INT NOT NULL,
  attempt INT NOT NULL,
  priority VARCHAR(16) NOT NULL,
  cause_id VARCHAR(255) NOT NULL,
  cause_sequence BIGINT NOT NULL,
  correlation_id VARCHAR(255) NULL,
  PRIMARY KEY (job_id),
  KEY by_time (due_at)`;

export const waitingTableDefinitions = { waiting };
