import { Type } from "typebox";
import { data, instant, natural, orNull, positive, priority, reason, sha256, turn } from "./event-fields.ts";
import type { PastVersion } from "./upcast.ts";

/** Before a job could be one of a group. */
const jobCreatedV1 = data({
  type: Type.Enum(["email.send"]),
  priority,
  total: natural,
  duplicates: natural,
  contentSha256: sha256,
  requestSha256: orNull(sha256),
  scheduledAt: orNull(instant),
  notAfter: orNull(instant),
  maxAttempts: positive,
  retryDelayMs: orNull(natural),
  onUnknown: Type.Enum(["resend", "skip"]),
  requeueOf: orNull(Type.String()),
});
const jobRetriedV1 = data({ ...turn, priority, scope: Type.Enum(["failed", "unknown", "unsent"]), reason });

/** Before a job could be put to another time, and tenants had crowds: a turn had one opening, which a pause did not end. */
const jobQueuedV1 = data({ ...turn, priority });
const jobResumedV1 = data({ ...turn, priority, notBefore: orNull(instant), reason });

const adding =
  (fields: object) =>
  (data: unknown): unknown => ({ ...(data as object), ...fields });

/** What a log may still hold, oldest first, by type. */
export const pastVersions: Readonly<Record<string, readonly PastVersion[]>> = {
  JobCreated: [{ schema: jobCreatedV1, lift: adding({ groupSha256: null }) }],
  JobQueued: [{ schema: jobQueuedV1, lift: adding({ opening: 0, isCrowded: false }) }],
  JobResumed: [{ schema: jobResumedV1, lift: adding({ opening: 0, groupSha256: null }) }],
  JobRetried: [{ schema: jobRetriedV1, lift: adding({ groupSha256: null }) }],
};
