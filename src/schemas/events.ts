import { type Static, type TSchema, Type } from "typebox";
import { type AlertEvent, alertNames } from "../domain/alerts/events.ts";
import type { JobEvent, JobQueued } from "../domain/job/events.ts";
import type { MessagePassed } from "../domain/log/events.ts";
import type { NotificationEvent } from "../domain/notifications/events.ts";
import type { RecipientEvent } from "../domain/recipients/events.ts";
import type { ResultEvent } from "../domain/result/events.ts";
import type { LogSealed } from "../domain/seals/events.ts";
import { type WebhookEvent, webhookTypes } from "../domain/webhooks/events.ts";
import {
  data,
  instant,
  jobType,
  natural,
  orNull,
  positive,
  priority,
  queueing,
  reason,
  sha256,
  turn,
} from "./event-fields.ts";
import type { Frozen } from "./same-shape.ts";

type LoggedEvent =
  | JobEvent
  | JobQueued
  | RecipientEvent
  | ResultEvent
  | WebhookEvent
  | NotificationEvent
  | AlertEvent
  | LogSealed
  | MessagePassed;

export type EventType = LoggedEvent["type"];

const jobError = data({ code: Type.String(), message: Type.String() });
const counts = data({
  total: natural,
  sent: natural,
  failed: natural,
  pending: natural,
  deferred: natural,
  unknown: natural,
  suppressed: natural,
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
const figure = Type.Number({ minimum: 0 });
const alertFigure = {
  alert: Type.Enum([...alertNames]),
  value: orNull(figure),
  threshold: orNull(figure),
  windowSeconds: orNull(positive),
  about: orNull(Type.String()),
};
const failedDelivery = data({ ...turn, recipient: natural, error: deliveryError });

/** The data of every type of event in its newest version: what the log holds and what subscribers may rely on. */
export const eventSchemas = {
  JobCreated: data({
    type: jobType,
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
  JobQueued: data({ ...turn, opening: natural, type: jobType, priority, isCrowded: Type.Boolean() }),
  JobStarted: data({ ...turn, worker: Type.String() }),
  JobReleased: data({ ...turn, worker: Type.String() }),
  JobRetryScheduled: data({ ...turn, type: jobType, priority, nextAttemptAt: instant, error: jobError }),
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
  JobContentErased: data({
    recipients: orNull(Type.Array(natural, { minItems: 1 })),
    contentSha256: orNull(sha256),
    isRetired: Type.Boolean(),
    reason,
  }),
  RecipientsClaimed: data({ ...turn, worker: Type.String(), recipients: Type.Array(natural, { minItems: 1 }) }),
  RecipientsReleased: data({ ...turn, recipients: Type.Array(natural, { minItems: 1 }) }),
  RecipientSent: data({ ...turn, recipient: natural, messageId: Type.String(), response: Type.String() }),
  RecipientDeferred: failedDelivery,
  RecipientFailed: failedDelivery,
  RecipientUnknown: failedDelivery,
  ResultStored: data({
    ...turn,
    of: Type.Enum(["jobs", "logs", "events"]),
    format: Type.Enum(["csv", "ndjson"]),
    chunks: positive,
    rows: natural,
    bytes: natural,
    sha256: orNull(sha256),
  }),
  RecipientSuppressed: data({
    ...turn,
    recipient: natural,
    reason: Type.Enum(["hard-bounce", "unsubscribe", "manual"]),
  }),
  WebhookDelivered: data({ ...webhookDelivery, attempt: positive, statusCode: Type.Integer() }),
  WebhookFailed: data({
    ...webhookDelivery,
    attempt: positive,
    statusCode: orNull(Type.Integer()),
    error: jobError,
    nextAttemptAt: orNull(instant),
  }),
  WebhookRedeliveryRequested: data(webhookDelivery),
  NotificationRead: data({ run: positive }),
  AlertRaised: data(alertFigure),
  AlertCleared: data({ ...alertFigure, raisedSequence: positive }),
  LogSealed: data({
    from: positive,
    to: positive,
    count: positive,
    root: sha256,
    previous: orNull(sha256),
    keyId: Type.String(),
    publicKey: Type.String(),
    signature: Type.String(),
  }),
  MessagePassed: data({
    sequence: positive,
    subject: Type.String(),
    sha256,
    fault: Type.String(),
    reason: Type.String(),
  }),
} satisfies Record<EventType, TSchema>;

type DataOf<Type extends EventType> = Frozen<Extract<LoggedEvent, { type: Type }>["data"]>;
type SchemaOf<Type extends EventType> = Frozen<Static<(typeof eventSchemas)[Type]>>;

/** Names the types whose schema and domain type differ, in whichever direction. */
type Drifted = {
  [Type in EventType]: [DataOf<Type>, SchemaOf<Type>] extends [SchemaOf<Type>, DataOf<Type>] ? never : Type;
}[EventType];

// Does not compile while a schema and its domain type differ; the error names the types that do.
true satisfies [Drifted] extends [never] ? true : Drifted;
