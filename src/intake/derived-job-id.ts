import { createHash } from "node:crypto";
import { stringify } from "uuid";
import type { JobRef } from "../event-log/event-log.ts";

/**
 * The same job for the same key, for ever and on every instance, without a table that could be lost: two requests
 * race for the first event of one job, and one wins.
 */
export const jobIdOfKey = (tenant: string, key: string): string => derivedUuid(`${tenant}\n${key}`);

/** Requeued twice, a run of a job becomes one new job. No key can make the same id: none has a line break in it. */
export const jobIdOfRequeue = ({ tenant, jobId }: JobRef, run: number): string =>
  derivedUuid(`${tenant}\nrequeue\n${jobId}\n${run}`);

/** A row of the outbox becomes one job, whoever relays it and however often. Row ids have no line break either. */
export const jobIdOfOutboxRow = (tenant: string, rowId: string): string =>
  derivedUuid(`${tenant}\noutbox\n${rowId.toLowerCase()}`);

/** The same for everybody who finds that the job of an id was abandoned before it was created. */
export const jobIdInsteadOf = ({ tenant, jobId }: JobRef): string => derivedUuid(`${tenant}\ninstead of\n${jobId}`);

/** A UUID of version 8 (RFC 9562), made of SHA-256. */
function derivedUuid(name: string): string {
  const bytes = createHash("sha256").update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return stringify(bytes);
}
