import type { DeliveryState } from "../../src/domain/webhooks/delivery.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { toDate, toDateOrNull, toInstant, toInstantOrNull } from "../instants.ts";
import type { Suffix } from "../projector.ts";

export const webhookDeliveriesTable = (suffix: Suffix): string => `webhook_deliveries${suffix}`;

/**
 * One row for each message to each receiver, ordered by `sequence`, that of its first outcome. `due_at` is the time of
 * the next look at it: the process that takes it moves the time ahead, which the log does not record.
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

/** A row of the table `webhook_deliveries`. */
export type DeliveryRow = {
  readonly delivery_id: string;
  readonly tenant: string;
  readonly endpoint: string;
  readonly sequence: number;
  readonly job_id: string;
  readonly type: DeliveryState["type"];
  readonly job_sequence: number;
  readonly round: number;
  readonly attempt: number;
  readonly status: DeliveryState["status"];
  readonly status_code: number | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly created_at: Date;
  readonly last_attempt_at: Date | null;
  readonly next_attempt_at: Date | null;
  readonly due_at: Date | null;
};

/** `sequence` is that of the first outcome. */
export const toDeliveryRow = (state: DeliveryState, { tenant, jobId }: JobRef, sequence: number): DeliveryRow => ({
  delivery_id: state.deliveryId,
  tenant,
  endpoint: state.endpoint,
  sequence,
  job_id: jobId,
  type: state.type,
  job_sequence: state.jobSequence,
  round: state.round,
  attempt: state.attempt,
  status: state.status,
  status_code: state.statusCode,
  error_code: state.error?.code ?? null,
  error_message: state.error?.message ?? null,
  created_at: toDate(state.createdAt),
  last_attempt_at: toDateOrNull(state.lastAttemptAt),
  next_attempt_at: toDateOrNull(state.nextAttemptAt),
  due_at: toDateOrNull(state.nextAttemptAt),
});

export const toDeliveryState = (row: DeliveryRow): DeliveryState => ({
  deliveryId: row.delivery_id,
  endpoint: row.endpoint,
  type: row.type,
  jobSequence: row.job_sequence,
  round: row.round,
  attempt: row.attempt,
  status: row.status,
  statusCode: row.status_code,
  error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? "" },
  createdAt: toInstant(row.created_at),
  lastAttemptAt: toInstantOrNull(row.last_attempt_at),
  nextAttemptAt: toInstantOrNull(row.next_attempt_at),
});
