export type ParsedJson =
  | { readonly parsed: true; readonly value: unknown }
  | { readonly parsed: false; readonly reason: string };

/** Deeper than any valid request, and shallow enough to be walked recursively. */
const maxDepth = 32;
/** Every unknown field is a fault of its own, so this bounds the work that a hostile body causes. */
const maxKeys = 1000;

const refused = (reason: string): ParsedJson => ({ parsed: false, reason });

/**
 * Parses an object or array from UTF-8; `what` names it in the reason of a refusal. Refuses what `JSON.parse` accepts and
 * would do harm later: nesting that overflows the stack of recursive code, huge numbers of keys, and keys named
 * `__proto__`. `expects` is called before parsing with the approximate number of values; if it throws, parsing does not begin.
 */
export function parseJson(bytes: Uint8Array, what = "body", expects = (_values: number): void => {}): ParsedJson {
  const { isTooDeep, values } = measure(bytes);
  if (isTooDeep) return refused(`The ${what} is nested more than ${maxDepth} levels deep.`);
  expects(values);
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return refused(`The ${what} is not UTF-8.`);
  }
  try {
    value = JSON.parse(text);
  } catch (failure) {
    return refused(`The ${what} is not JSON${placeOf(String(failure), text)}.`);
  }
  if (typeof value !== "object" || value === null)
    return refused(`The ${what} is a bare value; expected a JSON object.`);
  const fault = harmfulKey(value, what);
  return fault === null ? { parsed: true, value } : refused(fault);
}

/** The place, where the engine names one. Its own words are left out: they repeat the text, which may hold a secret. */
function placeOf(failure: string, text: string): string {
  const [, position] = /at position (\d+)/.exec(failure) ?? [];
  const isCutOff = /Unexpected end|Unterminated string/.test(failure) || Number(position) === text.length;
  if (isCutOff) return ": it ends too early";
  if (position === undefined) return "";
  const before = text.slice(0, Number(position)).split("\n");
  return `: the fault is at line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
}

const code = {
  quote: 0x22,
  comma: 0x2c,
  backslash: 0x5c,
  openArray: 0x5b,
  closeArray: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
};

/**
 * Checks the bytes before parsing: a body of nothing but brackets takes half a second to parse, and one of nothing but
 * empty objects takes forty times its size in memory.
 */
function measure(bytes: Uint8Array): { readonly isTooDeep: boolean; readonly values: number } {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length && depth <= maxDepth; at += 1) {
    const byte = bytes[at];
    if (byte === code.quote) at = endOfString(bytes, at);
    else if (byte === code.comma) values += 1;
    else if (byte === code.openArray || byte === code.openObject) {
      depth += 1;
      values += 1;
    } else if (byte === code.closeArray || byte === code.closeObject) depth -= 1;
  }
  return { isTooDeep: depth > maxDepth, values };
}

function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== code.quote) at += bytes[at] === code.backslash ? 2 : 1;
  return at;
}

function harmfulKey(value: object, what: string): string | null {
  const open: object[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!Array.isArray(next)) {
      const keys = Object.keys(next);
      if (keys.length > maxKeys) return `An object of the ${what} has more than ${maxKeys} keys.`;
      if (keys.includes("__proto__")) return `The ${what} has a key named __proto__.`;
    }
    for (const inner of Object.values(next)) if (typeof inner === "object" && inner !== null) open.push(inner);
  }
  return null;
}
