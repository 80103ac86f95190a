import { type TSchema, Type } from "typebox";
import { type Cursor, readCursor } from "../../event-log/cursor.ts";
import { type Checked, type Fault, failed, passed, shortened, shown } from "../../schemas/fault.ts";
import { toInstant } from "../../schemas/instant.ts";

/** One parameter of a query: the meaning of an absent one, and how to read a given one; null where it is not valid. */
export type Parameter<Value> = {
  readonly absent: Value;
  /** Whether an absent parameter is a fault. */
  readonly isRequired?: boolean;
  readonly expected: string;
  /** The same for programs, as far as a schema can express it. */
  readonly schema: TSchema;
  readonly read: (text: string) => Value | null;
};

export type Parameters<Query> = { readonly [Name in keyof Query]: Parameter<Query[Name]> };

/** Returns all faults at once; an unknown parameter is one. */
export function readQuery<Query extends object>(parameters: Parameters<Query>, given: URLSearchParams): Checked<Query> {
  const faults: Fault[] = unknownNames(Object.keys(parameters), given);
  const values = Object.entries<Parameter<unknown>>(parameters).map(([name, parameter]) => {
    const [text, second] = given.getAll(name);
    if (text === undefined) {
      if (parameter.isRequired) faults.push(faultOf(name, `is missing; expected ${parameter.expected}`));
      return [name, parameter.absent];
    }
    const value = second === undefined ? parameter.read(text) : null;
    const found = second === undefined ? shown(text) : "given more than once";
    if (value === null) faults.push(faultOf(name, `is ${found}; expected ${parameter.expected}`));
    return [name, value];
  });
  return faults.length === 0 ? passed(Object.fromEntries(values) as Query) : failed(faults);
}

function unknownNames(known: readonly string[], given: URLSearchParams): Fault[] {
  const unknown = [...new Set(given.keys())].filter((name) => !known.includes(name)).map(shortened);
  const expected = known.length === 0 ? "none" : known.join(", ");
  return unknown.map((name) => faultOf(name, `is not a known parameter; expected ${expected}`));
}

const faultOf = (name: string, sentence: string): Fault => ({ pointer: `?${name}`, message: `${name} ${sentence}` });

export const whole = <Absent extends number | null>(
  absent: Absent,
  min: number,
  max: number,
): Parameter<number | Absent> => ({
  absent,
  expected: `a whole number from ${min} to ${max}`,
  schema: Type.Integer({ minimum: min, maximum: max }),
  read: (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : null;
  },
});

export const oneOf = <Choice extends string, Absent extends Choice | null>(
  choices: readonly Choice[],
  absent: Absent,
): Parameter<Choice | Absent> => ({
  absent,
  expected: `one of ${choices.join(", ")}`,
  schema: Type.Enum([...choices]),
  read: (text) => choices.find((choice) => choice === text) ?? null,
});

export const flag = (absent: boolean): Parameter<boolean> => ({
  absent,
  expected: "true or false",
  schema: Type.Boolean(),
  // False is a value, and null is none.
  read: (text) => (text === "true" ? true : text === "false" ? false : null),
});

/** One or several values with commas; an absent parameter means all of them, as an empty list. */
export const someOf = <Choice extends string>(choices: readonly Choice[]): Parameter<readonly Choice[]> => ({
  absent: [],
  expected: `one or several, with commas, of ${choices.join(", ")}`,
  schema: Type.Array(Type.Enum([...choices]), { minItems: 1 }),
  read: (text) => {
    const found = text.split(",").map((one) => choices.find((choice) => choice === one));
    return found.some((one) => one === undefined) ? null : [...new Set(found as Choice[])];
  },
});

/** A position in the log from a header; `expected` describes it. Null where the header was not sent. */
export function readSequence(name: string, header: string | null, expected: string): Checked<number | null> {
  if (header === null) return passed(null);
  const sequence = /^\d{1,16}$/.test(header) ? Number(header) : Number.NaN;
  if (Number.isSafeInteger(sequence)) return passed(sequence);
  return failed([{ pointer: name, message: `${name} is ${shown(header)}; expected ${expected}` }]);
}

/** A place in the log, as an earlier answer named it. */
export const optionalCursor: Parameter<Cursor | null> = {
  absent: null,
  expected: "a cursor of an earlier answer, or the sequence of an entry",
  schema: Type.String({ pattern: "^\\d{1,15}(\\.\\d{1,2})?$" }),
  read: readCursor,
};

export const optionalText = (maxLength: number): Parameter<string | null> => ({
  absent: null,
  expected: `1 to ${maxLength} characters`,
  schema: Type.String({ minLength: 1, maxLength }),
  read: (text) => (text.length >= 1 && text.length <= maxLength ? text : null),
});

export const optionalId: Parameter<string | null> = {
  absent: null,
  expected: "an id such as 0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f",
  schema: Type.String({ format: "uuid" }),
  read: (text) => (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) ? text.toLowerCase() : null),
};

export const optionalInstant: Parameter<string | null> = {
  absent: null,
  expected: "a time such as 2026-11-21T09:30:00.000Z",
  schema: Type.String({ format: "date-time" }),
  read: toInstant,
};

/** A position in the log, as a sequence or a time. */
export const optionalMoment: Parameter<{ readonly sequence: number } | { readonly time: string } | null> = {
  absent: null,
  expected: "the sequence of an event, or a time such as 2026-11-21T09:30:00.000Z",
  schema: Type.Union([Type.Integer({ minimum: 0 }), Type.String({ format: "date-time" })]),
  read: (text) => {
    if (/^\d{1,15}$/.test(text)) return { sequence: Number(text) };
    const time = toInstant(text);
    return time === null ? null : { time };
  },
};
