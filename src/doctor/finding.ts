/** What an examination says of one thing: that it is well, or what is wrong and what to do about it. */
export type Finding = {
  readonly part: "nats" | "mysql" | "smtp" | "clock" | "disk";
  /** Serious: the service cannot do its work, or not keep its promises. */
  readonly level: "fine" | "warning" | "serious";
  readonly what: string;
  /** What to do; null where nothing is to be done. */
  readonly advice: string | null;
};

type Part = Finding["part"];

export const fine = (part: Part, what: string): Finding => ({ part, level: "fine", what, advice: null });
export const warning = (part: Part, what: string, advice: string): Finding => ({
  part,
  level: "warning",
  what,
  advice,
});
export const serious = (part: Part, what: string, advice: string): Finding => ({
  part,
  level: "serious",
  what,
  advice,
});

/** Whether a version such as `10.11.6-MariaDB` or `2.9.10` is at least another. */
export function isAtLeast(version: string, least: readonly [major: number, minor: number]): boolean {
  const [major = 0, minor = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  return major > least[0] || (major === least[0] && minor >= least[1]);
}

/** A failure in a few words, without what its system adds to it. */
export const wordsOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure));
