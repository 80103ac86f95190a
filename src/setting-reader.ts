export type Env = Readonly<Record<string, string | undefined>>;

export type SettingReader = ReturnType<typeof createSettingReader>;

/** Reads settings one by one, trimmed; what is wrong with one becomes a sentence among the faults, and its default is read. */
export function createSettingReader(env: Env, faults: string[]) {
  const raw = (name: string): string | null => env[name]?.trim() || null;
  const fault = (name: string, value: string, expected: string): void => {
    faults.push(`${name} is ${JSON.stringify(masked(value))}; expected ${expected}`);
  };
  const optionalWhole = (name: string, min: number, max: number): number | null => {
    const value = raw(name);
    if (value === null) return null;
    const number = Number(value);
    if (Number.isInteger(number) && number >= min && number <= max) return number;
    fault(name, value, `a whole number from ${min} to ${max}`);
    return null;
  };
  const optionalDecimal = (name: string, min: number, max: number): number | null => {
    const value = raw(name);
    if (value === null) return null;
    const number = Number(value);
    if (Number.isFinite(number) && number >= min && number <= max) return number;
    fault(name, value, `a number from ${min} to ${max}`);
    return null;
  };
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
      if (URL.canParse(value) && protocols.includes(new URL(value).protocol)) return value;
      fault(name, value, expected);
      return null;
    },
  };
}

/** A value as it may be printed: without the password of a URL. */
const masked = (value: string): string => value.replace(/(\/\/[^:@/]*:)[^@]*@/, "$1***@");
