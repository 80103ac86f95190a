import { type Static, type TObject, Type } from "typebox";
import { type OnUnknown, priorities } from "../domain/job/events.ts";
import { singleLine } from "./request-schema.ts";

export const maxRecipients = 1000;

/** The largest body of a mailing and its values fit in this many bytes of memory. */
export const leastBodyBudget = 96 * 1024 * 1024;

const outcomes = ["resend", "skip"] as const satisfies readonly OnUnknown[];

const time = Type.String({ format: "date-time", description: "a time such as 2026-11-21T09:30:00.000Z" });
/** A setting limits the addresses that may be called; the intake of the request checks it. */
const webhookUrl = Type.String({ minLength: 1, maxLength: 2048, description: "a URL of at most 2048 characters" });

/** The common fields of a request for a job, of whatever kind. */
export const jobFields = {
  type: Type.Optional(Type.String({ description: "a kind of job" })),
  name: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: singleLine,
      description: "at most 200 characters, without control characters",
    }),
  ),
  metadata: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: "object",
      maxProperties: 20,
      propertyNames: {
        type: "string",
        minLength: 1,
        maxLength: 100,
        pattern: singleLine,
        description: "1 to 100 characters, without control characters",
      },
      additionalProperties: Type.String({ maxLength: 1000, description: "a string of at most 1000 characters" }),
      description: "at most 20 keys, each with a string",
    }),
  ),
  priority: Type.Optional(Type.Enum([...priorities], { description: `one of ${priorities.join(", ")}` })),
  scheduledAt: Type.Optional(time),
  notAfter: Type.Optional(time),
  maxAttempts: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, description: "a whole number from 1 to 20" })),
  retryDelay: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 86_400_000, description: "milliseconds, a whole number from 0 to 86400000" }),
  ),
  webhookUrl: Type.Optional(webhookUrl),
  groupKey: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: singleLine,
      description: "1 to 200 characters, without control characters",
    }),
  ),
  onUnknown: Type.Optional(Type.Enum([...outcomes], { description: `one of ${outcomes.join(", ")}` })),
};

/** For kinds of jobs that support a dry run. */
export const dryRunField = { dryRun: Type.Optional(Type.Boolean({ description: "true or false" })) };

/** The recipients, each a text or an object; the kind of job defines which field of the object holds the text. */
export type RequestedRecipient = string | { readonly [field: string]: unknown };

/** A checked request; the fields of its kind are beside it and are that kind's to read. */
export type JobRequest = Omit<Static<TObject<typeof jobFields & typeof dryRunField>>, "type"> & {
  readonly type: string;
  readonly recipients?: readonly RequestedRecipient[];
};
