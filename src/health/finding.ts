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

/** A failure in a few words, without what its system adds to it. */
export const wordsOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure));
