import { Type } from "typebox";
import { attachments } from "./attachment.ts";
import { closed, singleLine } from "./request-schema.ts";
import { variables } from "./variables.ts";

const mailbox = Type.String({ format: "mailbox", description: "an address, or a name and an address in <…>" });
const part = Type.String({ minLength: 1, description: "a non-empty string" });
export const address = Type.String({ format: "email", description: "an e-mail address such as ada@example.com" });

/** What a request for a mailing says beside what every request does. */
export const mailFields = {
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
  attachments: Type.Optional(attachments),
  unsubscribe: Type.Optional(Type.Boolean({ description: "true or false" })),
};

/** Whom a mailing goes to. */
export const mailRecipient = {
  key: "email",
  text: address,
  object: Type.Object({ email: address, variables: Type.Optional(variables) }, closed),
  expected: "an address, or an object with one as email",
} as const;
