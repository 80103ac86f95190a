import { type Static, type TSchema, Type } from "typebox";
import type { JobEvent, JobQueued } from "../domain/job/events.ts";
import type { RecipientEvent } from "../domain/recipients/events.ts";

type LoggedEvent = JobEvent | JobQueued | RecipientEvent;

export type EventType = LoggedEvent["type"];

/** Closed: what is not in a version of a type is not in the log. A new field is a new version (see upcast.ts). */
const data = <Fields extends Record<string, TSchema>>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false });

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const instant = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$" });
const sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const natural = Type.Integer({ minimum: 0 });
const positive = Type.Integer({ minimum: 1 });
const reason = orNull(Type.String());
const priority = Type.Enum(["high", "normal", "low"]);

const turn = { run: positive, attempt: positive };
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
  }),
  JobQueued: data({ ...turn, priority }),
  JobStarted: data({ ...turn, worker: Type.String() }),
  JobRetryScheduled: data({ ...turn, priority, nextAttemptAt: instant, error: jobError }),
  JobPaused: data({ reason }),
  JobResumed: data({ ...turn, priority, notBefore: orNull(instant), reason }),
  JobCompleted: data({ ...turn, counts }),
  JobFailed: data({ ...turn, error: jobError, counts: orNull(counts) }),
  JobCancelled: data({ reason }),
  JobRetried: data({ ...turn, priority, scope: Type.Enum(["failed", "unknown", "unsent"]), reason }),
  JobRequeued: data({ run: positive, asJobId: Type.String(), reason }),
  DeadLetterIgnored: data({ run: positive, reason: Type.String() }),
  RecipientsClaimed: data({ ...turn, worker: Type.String(), recipients: Type.Array(natural, { minItems: 1 }) }),
  RecipientsReleased: data({ ...turn, recipients: Type.Array(natural, { minItems: 1 }) }),
  RecipientSent: data({ ...turn, recipient: natural, messageId: Type.String(), response: Type.String() }),
  RecipientDeferred: failedDelivery,
  RecipientFailed: failedDelivery,
  RecipientUnknown: failedDelivery,
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
