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

/** Before there were other jobs than mailings: nothing but JobCreated said which kind a job is of. */
const ofMailings = { type: "email.send" };
const mailsOnly = Type.Enum(["email.send"]);
const queueingV2 = { priority, groupSha256: orNull(sha256) };
const jobCreatedV2 = data({
  type: mailsOnly,
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
  groupSha256: orNull(sha256),
});
const jobQueuedV2 = data({ ...turn, opening: natural, priority, isCrowded: Type.Boolean() });
const jobResumedV2 = data({ ...turn, opening: natural, ...queueingV2, notBefore: orNull(instant), reason });
const jobRetriedV2 = data({ ...turn, ...queueingV2, scope: Type.Enum(["failed", "unknown", "unsent"]), reason });
const jobRetryScheduledV1 = data({
  ...turn,
  priority,
  nextAttemptAt: instant,
  error: data({ code: Type.String(), message: Type.String() }),
});
const jobRescheduledV1 = data({
  ...turn,
  opening: positive,
  ...queueingV2,
  scheduledAt: orNull(instant),
  isPaused: Type.Boolean(),
  reason,
});

const adding =
  (fields: object) =>
  (data: unknown): unknown => ({ ...(data as object), ...fields });

/** Before there were suppression lists. */
const countsV1 = data({
  total: natural,
  sent: natural,
  failed: natural,
  pending: natural,
  deferred: natural,
  unknown: natural,
});
const jobCompletedV1 = data({ ...turn, counts: countsV1 });
const jobFailedV1 = data({
  ...turn,
  error: data({ code: Type.String(), message: Type.String() }),
  counts: orNull(countsV1),
});

const withNobodySuppressed = (data: unknown): unknown => {
  const { counts, ...others } = data as { readonly counts: object | null };
  return { ...others, counts: counts === null ? null : { ...counts, suppressed: 0 } };
};

/** What a log may still hold, oldest first, by type. */
export const pastVersions: Readonly<Record<string, readonly PastVersion[]>> = {
  JobCreated: [
    { schema: jobCreatedV1, lift: adding({ groupSha256: null }) },
    { schema: jobCreatedV2, lift: adding({}) },
  ],
  JobQueued: [
    { schema: jobQueuedV1, lift: adding({ opening: 0, isCrowded: false }) },
    { schema: jobQueuedV2, lift: adding(ofMailings) },
  ],
  JobRetryScheduled: [{ schema: jobRetryScheduledV1, lift: adding(ofMailings) }],
  JobResumed: [
    { schema: jobResumedV1, lift: adding({ opening: 0, groupSha256: null }) },
    { schema: jobResumedV2, lift: adding(ofMailings) },
  ],
  JobRescheduled: [{ schema: jobRescheduledV1, lift: adding(ofMailings) }],
  JobCompleted: [{ schema: jobCompletedV1, lift: withNobodySuppressed }],
  JobFailed: [{ schema: jobFailedV1, lift: withNobodySuppressed }],
  JobRetried: [
    { schema: jobRetriedV1, lift: adding({ groupSha256: null }) },
    { schema: jobRetriedV2, lift: adding(ofMailings) },
  ],
};
