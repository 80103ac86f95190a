import type { Suffix } from "../projector.ts";

export const webhookDeliveriesTable = (suffix: Suffix): string => `webhook_deliveries${suffix}`;

/**
 * One row for each message to each receiver, in the order of the log by `sequence`, that of its first outcome.
 * `due_at` is when somebody should look at it again: whoever does moves it ahead, which is no business of the log.
 */
const deliveries = `
  delivery_id VARCHAR(64) NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  endpoint VARCHAR(64) NOT NULL,
  sequence BIGINT NOT NULL,
  job_id VARCHAR(64) NOT NULL,
  type VARCHAR(32) NOT NULL,
  job_sequence BIGINT NOT NULL,
  round INT NOT NULL,
  attempt INT NOT NULL,
  status VARCHAR(16) NOT NULL,
  status_code INT NULL,
  error_code VARCHAR(64) NULL,
  error_message MEDIUMTEXT NULL,
  created_at DATETIME(3) NOT NULL,
  last_attempt_at DATETIME(3) NULL,
  next_attempt_at DATETIME(3) NULL,
  due_at DATETIME(3) NULL,
  PRIMARY KEY (delivery_id),
  KEY by_endpoint (tenant, endpoint, sequence),
  KEY by_time (due_at),
  KEY by_job (job_id)`;

export const webhookDeliveryTableDefinitions = { webhook_deliveries: deliveries };
