import { type Static, type TSchema, Type } from "typebox";
import type { JobEvent, JobQueued } from "../domain/job/events.ts";
import type { RecipientEvent } from "../domain/recipients/events.ts";
import { type WebhookEvent, webhookTypes } from "../domain/webhooks/events.ts";
import { data, instant, natural, orNull, positive, priority, queueing, reason, sha256, turn } from "./event-fields.ts";

type LoggedEvent = JobEvent | JobQueued | RecipientEvent | WebhookEvent;

export type EventType = LoggedEvent["type"];

const jobError = data({ code: Type.String(), message: Type.String() });
const counts = data({
  total: natural,
  sent: natural,
  failed: natural,
  pending: natural,
  deferred: natural,
  unknown: natural,
});
const deliveryError = data({
  code: Type.String(),
  message: Type.String(),
  replyCode: orNull(Type.Integer()),
  statusCode: orNull(Type.String()),
});
const webhookDelivery = {
  deliveryId: Type.String({ minLength: 1 }),
  endpoint: Type.String({ minLength: 1 }),
  type: Type.Enum([...webhookTypes]),
  jobSequence: positive,
  round: positive,
};
const failedDelivery = data({ ...turn, recipient: natural, error: deliveryError });

/** The data of every type of event in its newest version: what the log holds and what subscribers may rely on. */
export const eventSchemas = {
  JobCreated: data({
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
    groupSha256: orNull(sha256),
  }),
  JobQueued: data({ ...turn, opening: natural, priority, isCrowded: Type.Boolean() }),
  JobStarted: data({ ...turn, worker: Type.String() }),
  JobRetryScheduled: data({ ...turn, priority, nextAttemptAt: instant, error: jobError }),
  JobPaused: data({ reason }),
  JobResumed: data({ ...turn, opening: natural, ...queueing, notBefore: orNull(instant), reason }),
  JobRescheduled: data({
    ...turn,
    opening: positive,
    ...queueing,
    scheduledAt: orNull(instant),
    isPaused: Type.Boolean(),
    reason,
  }),
  JobCompleted: data({ ...turn, counts }),
  JobFailed: data({ ...turn, error: jobError, counts: orNull(counts) }),
  JobCancelled: data({ reason }),
  JobRetried: data({ ...turn, ...queueing, scope: Type.Enum(["failed", "unknown", "unsent"]), reason }),
  JobRequeued: data({ run: positive, asJobId: Type.String(), reason }),
  DeadLetterIgnored: data({ run: positive, reason: Type.String() }),
  RecipientsClaimed: data({ ...turn, worker: Type.String(), recipients: Type.Array(natural, { minItems: 1 }) }),
  RecipientsReleased: data({ ...turn, recipients: Type.Array(natural, { minItems: 1 }) }),
  RecipientSent: data({ ...turn, recipient: natural, messageId: Type.String(), response: Type.String() }),
  RecipientDeferred: failedDelivery,
  RecipientFailed: failedDelivery,
  RecipientUnknown: failedDelivery,
  WebhookDelivered: data({ ...webhookDelivery, attempt: positive, statusCode: Type.Integer() }),
  WebhookFailed: data({
    ...webhookDelivery,
    attempt: positive,
    statusCode: orNull(Type.Integer()),
    error: jobError,
    nextAttemptAt: orNull(instant),
  }),
  WebhookRedeliveryRequested: data(webhookDelivery),
} satisfies Record<EventType, TSchema>;

type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;
type DataOf<Type extends EventType> = Frozen<Extract<LoggedEvent, { type: Type }>["data"]>;
type SchemaOf<Type extends EventType> = Frozen<Static<(typeof eventSchemas)[Type]>>;

/** Names the types whose schema and domain type differ, in whichever direction. */
type Drifted = {
  [Type in EventType]: [DataOf<Type>, SchemaOf<Type>] extends [SchemaOf<Type>, DataOf<Type>] ? never : Type;
}[EventType];

// Does not compile while a schema and its domain type differ; the error names the types that do.
true satisfies [Drifted] extends [never] ? true : Drifted;
