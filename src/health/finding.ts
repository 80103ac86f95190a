/** What receivers of mail look at. */
type ReadinessPart = "spf" | "dkim" | "dmarc" | "mx" | "ptr" | "tls" | "link" | "bulk";

/** The result of examining one thing: either that it is fine, or what is wrong and the remedy. */
export type Finding = {
  readonly part: "nats" | "mysql" | "smtp" | "clock" | "disk" | ReadinessPart;
  /** Serious: the service cannot do its work or cannot keep its promises. */
  readonly level: "fine" | "warning" | "serious";
  readonly what: string;
  /** The remedy; null if there is nothing to do. */
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

/** A failure in a few words, without the details that the failing system adds. */
export const wordsOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure));
