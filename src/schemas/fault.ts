/** One thing that is wrong with a request: where, and a sentence for people with the value and what was expected. */
export type Fault = {
  /** A JSON Pointer into the body (`/recipients/12`), `?name` for a query parameter, or the name of a header. */
  readonly pointer: string;
  readonly message: string;
};

export type Checked<Value> =
  | { readonly valid: true; readonly value: Value }
  | { readonly valid: false; readonly faults: readonly Fault[] };

/** More than these are of no use to anybody in one answer. */
const maxFaults = 50;
const maxShownLength = 60;

const inNaturalOrder = new Intl.Collator("en", { numeric: true });

export const passed = <Value>(value: Value): Checked<Value> => ({ valid: true, value });

export const failed = (faults: readonly Fault[]): Checked<never> => ({ valid: false, faults: inOrder(faults) });

/** The faults of several parts of one request, as one list. */
export const faultsIn = (...parts: readonly Checked<unknown>[]): readonly Fault[] =>
  inOrder(parts.flatMap((part) => (part.valid ? [] : part.faults)));

/** Each fault once, ordered by place (`/recipients/2` before `/recipients/10`), the first 50 of them. */
function inOrder(faults: readonly Fault[]): readonly Fault[] {
  const distinct = new Map(faults.map((fault) => [`${fault.pointer}\n${fault.message}`, fault]));
  const ordered = [...distinct.values()].sort((one, other) => inNaturalOrder.compare(one.pointer, other.pointer));
  return ordered.slice(0, maxFaults);
}

/** A value as it stands in a message: short, on one line, and never walked into. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(shortened(value));
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : `an array of ${value.length}`;
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

export const shortened = (text: string): string =>
  text.length <= maxShownLength ? text : `${text.slice(0, maxShownLength)}…`;
