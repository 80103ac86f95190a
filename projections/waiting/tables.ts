import type { Suffix } from "../projector.ts";

export const waitingTable = (suffix: Suffix): string => `waiting${suffix}`;

/** See WaitingRow. `cause_*` is the decision that made it wait. */
const waiting = `
  job_id VARCHAR(64) NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  group_sha256 CHAR(64) NULL,
  place BIGINT NOT NULL,
  due_at DATETIME(3) NULL,
  ready_at DATETIME(3) NULL,
  run INT NOT NULL,
  attempt INT NOT NULL,
  opening INT NOT NULL,
  type VARCHAR(32) NOT NULL,
  priority VARCHAR(16) NOT NULL,
  cause_id VARCHAR(255) NOT NULL,
  cause_sequence BIGINT NOT NULL,
  correlation_id VARCHAR(255) NULL,
  traceparent VARCHAR(64) NULL,
  PRIMARY KEY (job_id),
  KEY by_readiness (ready_at),
  KEY by_group (group_sha256, place)`;

export const waitingTableDefinitions = { waiting };
