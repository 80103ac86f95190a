import { createHash } from "node:crypto";
import { stringify } from "uuid";
import type { JobRef } from "../event-log/event-log.ts";

/** Stands for the receiver that a job names itself. */
export const ownReceiver = "job";

/**
 * The same for the same event and receiver, whoever tells it and however often: a receiver that has seen it before can
 * leave it. A UUID of version 8 (RFC 9562), made of SHA-256.
 */
export function deliveryIdOf({ tenant, jobId }: JobRef, eventId: string, endpoint: string): string {
  const name = ["webhook", tenant, jobId, eventId, endpoint].join("\n");
  const bytes = createHash("sha256").update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return stringify(bytes);
}
