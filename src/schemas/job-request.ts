import { type Static, Type } from "typebox";
import type { JobType, OnUnknown, Priority } from "../domain/job/events.ts";
import { attachments } from "./attachment.ts";
import { closed, singleLine } from "./request-schema.ts";
import { variables } from "./variables.ts";

export const maxRecipients = 1000;

export const jobTypes = ["email.send"] as const satisfies readonly JobType[];
const priorities = ["high", "normal", "low"] as const satisfies readonly Priority[];
const outcomes = ["resend", "skip"] as const satisfies readonly OnUnknown[];

const time = Type.String({ format: "date-time", description: "a time such as 2026-11-21T09:30:00.000Z" });
const mailbox = Type.String({ format: "mailbox", description: "an address, or a name and an address in <…>" });
/** Which addresses may be called is a setting, looked at where the request is taken. */
const webhookUrl = Type.String({ minLength: 1, maxLength: 2048, description: "a URL of at most 2048 characters" });
const part = Type.String({ minLength: 1, description: "a non-empty string" });
export const address = Type.String({ format: "email", description: "an e-mail address such as ada@example.com" });

export const jobFields = {
  type: Type.Optional(Type.Enum([...jobTypes], { description: `one of ${jobTypes.join(", ")}` })),
  subject: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: singleLine,
    description: "1 to 200 characters after trimming, without control characters",
  }),
  body: part,
  html: Type.Optional(part),
  text: Type.Optional(part),
  from: Type.Optional(mailbox),
  replyTo: Type.Optional(mailbox),
  headers: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: "object",
      maxProperties: 20,
      propertyNames: { type: "string", format: "mail-header", description: "a mail header the service does not set" },
      additionalProperties: Type.String({
        maxLength: 998,
        pattern: singleLine,
        description: "at most 998 characters, without control characters",
      }),
      description: "at most 20 mail headers, each a name and a string",
    }),
  ),
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
  attachments: Type.Optional(attachments),
  dryRun: Type.Optional(Type.Boolean({ description: "true or false" })),
  onUnknown: Type.Optional(Type.Enum([...outcomes], { description: `one of ${outcomes.join(", ")}` })),
};

export const recipientObject = Type.Object({ email: address, variables: Type.Optional(variables) }, closed);
export const anAddress = "an address, or an object with one as email";
const recipient = Type.Union([address, recipientObject], { description: anAddress });
export const someRecipients = {
  minItems: 1,
  maxItems: maxRecipients,
  description: `an array of 1 to ${maxRecipients} recipients`,
};

/** What POST /api/jobs takes. */
export const jobRequest = Type.Object({ ...jobFields, recipients: Type.Array(recipient, someRecipients) }, closed);

export type JobRequest = Static<typeof jobRequest>;
