import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Static, TSchema } from "typebox";
import { quickly } from "./checked-by.ts";
import { isEmailAddress, isMailbox } from "./email-address.ts";
import { type Checked, failed, faultsOf, passed } from "./fault.ts";
import { toInstant } from "./instant.ts";
import { isBase64, isContentId, isFileName, isMediaType, isOpenHeaderName } from "./mail-formats.ts";

/** The formats are functions in linear time, and no pattern comes from a client. */
const settings = {
  ...quickly,
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
};

const stoppingAtFirst = new Ajv2020(settings);
const findingAll = new Ajv2020({ ...settings, allErrors: true });

/**
 * Every element and every unknown field can be a fault of its own, and a million of them took fifteen seconds and a
 * gigabyte: of what holds more values than this, the first fault alone is reported.
 */
const mostValues = 20_000;

function holdsMoreThan(most: number, value: unknown): boolean {
  const open = [value];
  let left = most;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== "object" || next === null) continue;
    const inner = Object.values(next);
    left -= inner.length;
    if (left < 0) return true;
    open.push(...inner.filter((one) => typeof one === "object" && one !== null));
  }
  return false;
}

/** Text on one line: without control characters, and well-formed. */
export const singleLine = "^[^\\p{Cc}\\p{Cs}\\u2028\\u2029]*$";

/** An object that has the fields of its schema and no others: a typo never sends a half-configured mailing. */
export const closed = { additionalProperties: false, description: "an object" } as const;

/** Checks part of a request; `at` is the pointer to that part. Compiled when first needed, as `checkedBy` is. */
export function checkRequest<Schema extends TSchema>(
  schema: Schema,
): (value: unknown, at?: string) => Checked<Static<Schema>> {
  let validate: ValidateFunction<Static<Schema>> | undefined;
  let findFaults: ValidateFunction | undefined;
  return (value, at) => {
    validate ??= stoppingAtFirst.compile<Static<Schema>>(schema);
    if (validate(value)) return passed(value);
    if (holdsMoreThan(mostValues, value)) return failed(faultsOf(validate.errors ?? [], at));
    findFaults ??= findingAll.compile(schema);
    findFaults(value);
    return failed(faultsOf(findFaults.errors ?? [], at));
  };
}
