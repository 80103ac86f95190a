import type { ErrorObject } from "ajv/dist/2020.js";

/** One fault of a request: the place, and a sentence for people with the value and what was expected. */
export type Fault = {
  /** A JSON Pointer into the body (`/recipients/12`), `?name` for a query parameter, or the name of a header. */
  readonly pointer: string;
  readonly message: string;
};

export type Checked<Value> =
  | { readonly valid: true; readonly value: Value }
  | { readonly valid: false; readonly faults: readonly Fault[] };

/** The most faults in one answer: more are of no use to its reader. */
const maxFaults = 50;
/** Of this many the first in order are found: to put more into words takes longer than to find them. */
const maxWorded = 1000;
const maxShownLength = 60;

const inNaturalOrder = new Intl.Collator("en", { numeric: true });

export const passed = <Value>(value: Value): Checked<Value> => ({ valid: true, value });

export const failed = (faults: readonly Fault[]): Checked<never> => ({ valid: false, faults: inOrder(faults) });

/** The faults of several parts of one request, as one list. */
export const faultsIn = (...parts: readonly Checked<unknown>[]): readonly Fault[] =>
  inOrder(parts.flatMap((part) => (part.valid ? [] : part.faults)));

/** Each fault once, ordered by place (`/recipients/2` before `/recipients/10`), at most 50 of them. */
function inOrder(faults: readonly Fault[]): readonly Fault[] {
  const distinct = new Map(faults.map((fault) => [`${fault.pointer}\n${fault.message}`, fault]));
  const ordered = [...distinct.values()].sort((one, other) => inNaturalOrder.compare(one.pointer, other.pointer));
  return ordered.slice(0, maxFaults);
}

/** A value in a message: short, on one line, and never traversed. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(shortened(value));
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : `an array of ${value.length}`;
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

export const shortened = (text: string): string =>
  text.length <= maxShownLength ? text : `${text.slice(0, maxShownLength)}…`;

type Described = { readonly description?: string };

/**
 * An error of ajv, in words. The `description` of a schema names what is expected, whichever keyword was broken, so
 * every schema of a request has one. `at` is the pointer to the checked value in the body.
 */
export const faultsOf = (errors: readonly ErrorObject[], at = ""): readonly Fault[] =>
  // Errors about a property's name come twice: from the schema of names, and as the keyword `propertyNames`.
  errors
    .filter((error) => error.propertyName === undefined)
    .slice(0, maxWorded)
    .map((error) => toFault(error, at));

function toFault(error: ErrorObject, at: string): Fault {
  const pointer = at + error.instancePath;
  const schema = (error.parentSchema ?? {}) as Described & {
    readonly properties?: Readonly<Record<string, Described>>;
    readonly propertyNames?: Described;
  };
  if (error.keyword === "required") {
    const missing = String(error.params["missingProperty"]);
    return faultAt(below(pointer, missing), `is missing; expected ${schema.properties?.[missing]?.description}`);
  }
  if (error.keyword === "additionalProperties") {
    return faultAt(below(pointer, String(error.params["additionalProperty"])), "is not a known field");
  }
  if (error.keyword === "propertyNames") {
    const name = String(error.params["propertyName"]);
    return faultAt(below(pointer, name), `cannot be a name here; expected ${schema.propertyNames?.description}`);
  }
  return faultAt(pointer, `is ${shown(error.data)}; expected ${schema.description}`);
}

export const faultAt = (pointer: string, sentence: string): Fault => ({
  pointer,
  message: `${placeOf(pointer)} ${sentence}`,
});

/** RFC 6901. A property name that a client chose can be as long as its request: it is shortened. */
const below = (pointer: string, name: string): string =>
  `${pointer}/${shortened(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** `/recipients/12/email` as `recipients[12].email`. */
function placeOf(pointer: string): string {
  const names = pointer.split("/").slice(1);
  if (names.length === 0) return "the body";
  const place = names.map((name) => stepTo(name.replaceAll("~1", "/").replaceAll("~0", "~"))).join("");
  return place.replace(/^\./, "");
}

function stepTo(name: string): string {
  if (/^\d+$/.test(name)) return `[${name}]`;
  return /^[\w-]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}
