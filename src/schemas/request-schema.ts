import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Static, TSchema } from "typebox";
import { quickly } from "./checked-by.ts";
import { isEmailAddress, isMailbox } from "./email-address.ts";
import { type Checked, failed, faultsOf, passed } from "./fault.ts";
import { toInstant } from "./instant.ts";
import { isBase64, isContentId, isFileName, isMediaType, isOpenHeaderName } from "./mail-formats.ts";

/**
 * Reports all faults at once: the caller limits the size of the input, because every element and every unknown field
 * can be a fault. The formats are functions in linear time, and no pattern comes from a client.
 */
const ajv = new Ajv2020({
  ...quickly,
  allErrors: true,
  verbose: true,
  formats: {
    email: isEmailAddress,
    mailbox: isMailbox,
    "mail-header": isOpenHeaderName,
    "file-name": isFileName,
    "media-type": isMediaType,
    "content-id": isContentId,
    base64: isBase64,
    "date-time": (text: string) => toInstant(text) !== null,
  },
});

/** Text on one line: without control characters, and well-formed. */
export const singleLine = "^[^\\p{Cc}\\p{Cs}\\u2028\\u2029]*$";

/** An object that has the fields of its schema and no others: a typo never sends a half-configured mailing. */
export const closed = { additionalProperties: false, description: "an object" } as const;

/** Checks part of a request; `at` is the pointer to that part. Compiled when first needed, as `checkedBy` is. */
export function checkRequest<Schema extends TSchema>(
  schema: Schema,
): (value: unknown, at?: string) => Checked<Static<Schema>> {
  let validate: ValidateFunction<Static<Schema>> | undefined;
  return (value, at) => {
    validate ??= ajv.compile<Static<Schema>>(schema);
    return validate(value) ? passed(value) : failed(faultsOf(validate.errors ?? [], at));
  };
}
