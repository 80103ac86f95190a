import { createHash } from "node:crypto";
import { stringify } from "uuid";
import type { Instant } from "../domain/message.ts";
import type { JobRef } from "../event-log/event-log.ts";

/**
 * The same job for the same key, for ever and on every instance, without a table that could be lost: where two requests
 * race for the first event of one job, exactly one wins.
 */
export const jobIdOfKey = (tenant: string, key: string): string => derivedUuid(`${tenant}\n${key}`);

/** A mailing and a job may be asked for with the same key: they are two things. */
export const mailingIdOfKey = (tenant: string, key: string): string => derivedUuid(`${tenant}\nmailing\n${key}`);

/** A schedule may be asked for with the same key, too. */
export const scheduleIdOfKey = (tenant: string, key: string): string => derivedUuid(`${tenant}\nschedule\n${key}`);

/** A time of a schedule makes one job or mailing, whichever process makes it and however often. */
export const idOfFiring = ({ tenant, jobId }: JobRef, dueAt: Instant): string =>
  derivedUuid(`${tenant}\nfiring\n${jobId}\n${dueAt}`);

/** The same of a test of a mailing. No other key gives this id: keys hold no line break. */
export const jobIdOfMailingTest = ({ tenant, jobId }: JobRef, key: string): string =>
  derivedUuid(`${tenant}\nmailing test\n${jobId}\n${key}`);

/** A run of a job that is requeued twice becomes one new job. No key can give the same id: keys hold no line break. */
export const jobIdOfRequeue = ({ tenant, jobId }: JobRef, run: number): string =>
  derivedUuid(`${tenant}\nrequeue\n${jobId}\n${run}`);

/** A row of the outbox becomes one job, whichever relay relays it and however often. Row ids hold no line break either. */
export const jobIdOfOutboxRow = (tenant: string, rowId: string): string =>
  derivedUuid(`${tenant}\noutbox\n${rowId.toLowerCase()}`);

/** The same for every process that finds the job of an id abandoned before it was created. */
export const jobIdInsteadOf = ({ tenant, jobId }: JobRef): string => derivedUuid(`${tenant}\ninstead of\n${jobId}`);

/** A UUID of version 8 (RFC 9562) from a SHA-256 digest. */
function derivedUuid(name: string): string {
  const bytes = createHash("sha256").update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return stringify(bytes);
}
