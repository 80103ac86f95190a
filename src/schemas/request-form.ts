import { type TObject, type TProperties, type TSchema, Type } from "typebox";
import type { JobType } from "../domain/job/events.ts";
import { type Fault, faultAt, shown } from "./fault.ts";
import { dryRunField, jobFields, maxRecipients } from "./job-request.ts";
import { checkRequest, closed } from "./request-schema.ts";
import { faultOfVariables } from "./variables.ts";

/** Who is served by a kind of job: a text, or an object with that text and variables. */
export type RecipientForm = {
  /** Where the text stands in an object. */
  readonly key: string;
  readonly text: TSchema;
  readonly object: TObject;
  /** Both, in words. */
  readonly expected: string;
};

/** What a request for one kind of job says. Every schema has a `description`, which its faults quote. */
export type RequestForm = {
  readonly type: JobType;
  /** Beside those that every request has. */
  readonly fields: TProperties;
  /** Null for a kind that has no recipients. */
  readonly recipients: RecipientForm | null;
  /** Fields whose texts lose the spaces around them before they are checked. */
  readonly trimmed?: readonly string[];
  /** Present where a request may ask for a dry run. */
  readonly dryRun?: unknown;
  /** What is wrong with fields that are each right; looked for whatever else is wrong. */
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
  // They are checked one by one: it can end after enough faults, and a union has no fault that people understand.
  ...(recipients === null ? {} : { recipients: Type.Array(Type.Unknown(), someRecipients) }),
});

/** Finds every fault of a request of one kind, of its shape as of its meaning. */
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

function recipientFaults({ text, object, expected }: RecipientForm): (recipients: unknown) => readonly Fault[] {
  const checkText = checkRequest(text);
  const checkObject = checkRequest(object);

  const faultsOf = (value: unknown, at: string): readonly Fault[] => {
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
