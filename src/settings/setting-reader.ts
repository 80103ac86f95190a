export type Env = Readonly<Record<string, string | undefined>>;

/** Reads settings one by one. A wrong value adds a fault, and its default is returned. */
export type SettingReader = ReturnType<typeof createSettingReader>;

/** The rules for the items of a list. */
type ListRule = {
  readonly isItem: (item: string) => boolean;
  readonly expected: string;
  /** Whether an item may occur more than once. */
  readonly mayRepeat?: boolean;
};

/** Creates a reader that trims values, and adds a sentence to `faults` for each wrong value. */
export function createSettingReader(env: Env, faults: string[]) {
  const raw = (name: string): string | null => env[name]?.trim() || null;
  const fault = (name: string, value: string, expected: string): void => {
    faults.push(`${name} is ${JSON.stringify(masked(value))}; expected ${expected}`);
  };
  const optionalNumber = (name: string, min: number, max: number, form: RegExp, kind: string): number | null => {
    const value = raw(name);
    if (value === null) return null;
    // Number() alone would also accept 1e3, 0x10 and +5.
    const number = form.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    fault(name, value, `${kind} from ${min} to ${max}`);
    return null;
  };
  const optionalWhole = (name: string, min: number, max: number): number | null =>
    optionalNumber(name, min, max, wholeForm, "a whole number");
  const optionalDecimal = (name: string, min: number, max: number): number | null =>
    optionalNumber(name, min, max, decimalForm, "a number");
  return {
    raw,
    fault,
    optionalWhole,
    text: (name: string, fallback: string): string => raw(name) ?? fallback,
    whole: (name: string, fallback: number, min: number, max: number): number =>
      optionalWhole(name, min, max) ?? fallback,
    optionalDecimal,
    decimal: (name: string, fallback: number, min: number, max: number): number =>
      optionalDecimal(name, min, max) ?? fallback,
    flag: (name: string, fallback: boolean): boolean => {
      const value = raw(name)?.toLowerCase() ?? null;
      if (value === null) return fallback;
      if (["true", "yes", "1", "on"].includes(value)) return true;
      if (["false", "no", "0", "off"].includes(value)) return false;
      fault(name, value, "true or false");
      return fallback;
    },
    oneOf: <Choice extends string>(name: string, fallback: Choice, choices: readonly Choice[]): Choice => {
      const value = raw(name);
      const choice = choices.find((candidate) => candidate === value);
      if (value !== null && choice === undefined) fault(name, value, `one of ${choices.join(", ")}`);
      return choice ?? fallback;
    },
    url: (name: string, protocols: readonly string[], expected: string): string | null => {
      const value = raw(name);
      if (value === null) return null;
      if (isUrl(value, protocols)) return value;
      fault(name, value, expected);
      return null;
    },
    /** The trimmed items between the commas; null if the setting is missing or wrong. */
    list: (name: string, { isItem, expected, mayRepeat = false }: ListRule): readonly string[] | null => {
      const value = raw(name);
      if (value === null) return null;
      const items = value.split(",").map((item) => item.trim());
      const wrong = whatIsWrong(items, isItem, mayRepeat);
      if (wrong === null) return items;
      fault(name, value, `${expected}; ${wrong}`);
      return null;
    },
  };
}

export const wholeForm = /^\d+$/;
const decimalForm = /^(\d+(\.\d+)?|\.\d+)$/;

/** An extra comma is a mistake whose meaning is unknown: `60000,` is not a list of two delays. */
function whatIsWrong(items: readonly string[], isItem: (item: string) => boolean, mayRepeat: boolean): string | null {
  const place = (index: number): string => `item ${index + 1} of ${items.length}`;
  const empty = items.indexOf("");
  if (empty !== -1) return `${place(empty)} is empty`;
  const wrong = items.findIndex((item) => !isItem(item));
  if (wrong !== -1) return `${place(wrong)} is not`;
  const again = items.findIndex((item, index) => items.indexOf(item) !== index);
  return again === -1 || mayRepeat ? null : `${place(again)} was there before`;
}

function isUrl(value: string, protocols: readonly string[]): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, password } = new URL(value);
  return protocols.includes(protocol) && hostname !== "" && [username, password].every(isDecodable);
}

/** A `%` in a password has to be written as %25; otherwise servers would receive a different password or none. */
function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== null;
  } catch {
    return false;
  }
}

/** A value as it may be printed: without the password, the token and the query of a URL. */
const masked = (value: string): string =>
  value
    .split(/(,)(?=\s*[a-z]+:\/\/)/)
    .map((one) =>
      one
        .replace(/(\/\/)([^:@/]*:)?.*@/, (_, slashes: string, user = "") => `${slashes}${user}***@`)
        // Without its scheme, or with a broken one, it is still a password.
        .replace(/^([^:@/\s]*:)(?!\/\/).*@/, "$1***@")
        .replace(/(:\/\/[^?]*\?).+/, "$1***"),
    )
    .join("");
