import { type TObject, type TProperties, type TSchema, Type } from "typebox";
import type { JobType } from "../domain/job/events.ts";
import { type Fault, faultAt, shown } from "./fault.ts";
import { dryRunField, jobFields, maxRecipients } from "./job-request.ts";
import { checkRequest, closed } from "./request-schema.ts";
import { faultOfVariables } from "./variables.ts";

/** The recipients of a kind of job: a text, or an object with that text and variables. */
export type RecipientForm = {
  /** The field of the object that holds the text. */
  readonly key: string;
  readonly text: TSchema;
  readonly object: TObject;
  /** A description of both. */
  readonly expected: string;
  /** The object that a text stands for, where that is more than the text under its key. */
  readonly ofText?: (text: string) => Readonly<Record<string, unknown>>;
};

/** The form of a request for one kind of job. Every schema has a `description`, which its faults quote. */
export type RequestForm = {
  readonly type: JobType;
  /** The fields in addition to those of every request. */
  readonly fields: TProperties;
  /** Null for a kind that has no recipients. */
  readonly recipients: RecipientForm | null;
  /** Fields whose texts are trimmed before they are checked. */
  readonly trimmed?: readonly string[];
  /** Present if a request may ask for a dry run. */
  readonly dryRun?: unknown;
  /** A request as a person would write it. */
  readonly example: object;
  /** Faults of fields that are each valid; checked even if there are other faults. */
  readonly contradictions?: (body: Readonly<Record<string, unknown>>) => readonly Fault[];
};

type Body = Readonly<Record<string, unknown>>;

/** Enough to fill the list of faults of one answer. */
const enoughFaults = 50;

export const someRecipients = {
  minItems: 1,
  maxItems: maxRecipients,
  description: `an array of 1 to ${maxRecipients} recipients`,
};

/** The fields that a request of this kind may have. */
export const fieldsOf = ({ fields, recipients, dryRun }: RequestForm): TProperties => ({
  ...jobFields,
  ...fields,
  ...(dryRun === undefined ? {} : dryRunField),
  // The recipients are checked one by one: the check can stop after enough faults, and a union has no fault that people
  // understand.
  ...(recipients === null ? {} : { recipients: Type.Array(Type.Unknown(), someRecipients) }),
});

/** Finds every fault of a request of one kind, in form and in meaning. */
export function faultFinder(form: RequestForm): (body: Body) => readonly Fault[] {
  const checkFields = checkRequest(Type.Object(fieldsOf(form), closed));
  const faultsOfRecipients = form.recipients === null ? () => [] : recipientFaults(form.recipients);
  return (body) => {
    const checked = checkFields(body);
    return [
      ...(checked.valid ? [] : checked.faults),
      ...faultsOfRecipients(body["recipients"]),
      ...(form.contradictions?.(body) ?? []),
    ];
  };
}

/** Finds the faults of one recipient; `at` is the pointer to it. */
export function recipientCheck({
  text,
  object,
  expected,
}: RecipientForm): (value: unknown, at: string) => readonly Fault[] {
  const checkText = checkRequest(text);
  const checkObject = checkRequest(object);
  return (value, at) => {
    if (typeof value === "string") {
      const checked = checkText(value, at);
      return checked.valid ? [] : checked.faults;
    }
    if (!isObject(value)) return [faultAt(at, `is ${shown(value)}; expected ${expected}`)];
    const checked = checkObject(value, at);
    if (!checked.valid) return checked.faults;
    const variables = value["variables"];
    const fault = isObject(variables) ? faultOfVariables(variables) : null;
    return fault === null ? [] : [faultAt(`${at}/variables`, fault)];
  };
}

function recipientFaults(form: RecipientForm): (recipients: unknown) => readonly Fault[] {
  const faultsOf = recipientCheck(form);
  return (recipients) => {
    const faults: Fault[] = [];
    if (!Array.isArray(recipients)) return faults;
    for (const [index, one] of recipients.entries()) {
      faults.push(...faultsOf(one, `/recipients/${index}`));
      if (faults.length >= enoughFaults) break;
    }
    return faults;
  };
}

export const isObject = (value: unknown): value is Body =>
  typeof value === "object" && value !== null && !Array.isArray(value);
