export type Env = Readonly<Record<string, string | undefined>>;

/** Reads one setting after the other; a wrong value becomes a fault, and its default is read. */
export type SettingReader = ReturnType<typeof createSettingReader>;

/** What is asked of the items of a list. */
type ListRule = {
  readonly isItem: (item: string) => boolean;
  readonly expected: string;
  /** Where the same item twice means something. */
  readonly mayRepeat?: boolean;
};

/** Reads settings one by one, trimmed; what is wrong with one becomes a sentence among the faults, and its default is read. */
export function createSettingReader(env: Env, faults: string[]) {
  const raw = (name: string): string | null => env[name]?.trim() || null;
  const fault = (name: string, value: string, expected: string): void => {
    faults.push(`${name} is ${JSON.stringify(masked(value))}; expected ${expected}`);
  };
  const optionalNumber = (name: string, min: number, max: number, form: RegExp, kind: string): number | null => {
    const value = raw(name);
    if (value === null) return null;
    // Number() alone takes 1e3, 0x10 and +5, too.
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
    /** The items between the commas, trimmed; null where there is no such setting, or something is wrong with it. */
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

/** A comma too many is a slip, and what was meant by it cannot be known: `60000,` is no list of two delays. */
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

/** A `%` in a password has to be written as %25: servers would be shown something else, or nothing at all. */
function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== null;
  } catch {
    return false;
  }
}

/** A value as it may be printed: without the password or the token of a URL, and what stands in its query. */
const masked = (value: string): string =>
  value
    .split(/(,)(?=\s*[a-z]+:\/\/)/)
    .map((one) =>
      one
        .replace(/(\/\/)([^:@/]*:)?.*@/, (_, slashes: string, user = "") => `${slashes}${user}***@`)
        .replace(/(:\/\/[^?]*\?).+/, "$1***"),
    )
    .join("");
