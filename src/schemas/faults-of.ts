import type { ErrorObject } from "ajv/dist/2020.js";
import { type Fault, shortened, shown } from "./fault.ts";

type Described = { readonly description?: string };

/**
 * What ajv found, in words. A schema's `description` says what is expected there, whichever keyword was broken, so
 * every schema of a request has one. `at` is where the checked value stands in the body.
 */
export const faultsOf = (errors: readonly ErrorObject[], at = ""): readonly Fault[] =>
  // Errors about a property's name come twice: from the schema of names, and as the keyword `propertyNames`.
  errors.filter((error) => error.propertyName === undefined).map((error) => toFault(error, at));

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

/** RFC 6901. A name that a client made up can be as long as its request: it is shortened. */
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
