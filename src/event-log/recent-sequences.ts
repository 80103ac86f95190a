/** The sequences of the last messages of subjects, as far as this process knows them, for the header `Waybill-Before`. */
export type RecentSequences = {
  /** Those up to the last one, oldest first; empty where this process does not know what was before it. */
  upTo(subject: string, last: number): readonly number[];
  /** Takes over messages that follow each other on their subject. */
  learn(subject: string, sequences: readonly number[]): void;
};

/** A history of 300 decisions is then read in five steps; the header takes some 500 bytes. */
const mostNamed = 64;
/** Others are written without the header, until the process has read their histories. */
const mostSubjects = 1000;

export function createRecentSequences(): RecentSequences {
  const known = new Map<string, readonly number[]>();
  return {
    upTo: (subject, last) => {
      const sequences = known.get(subject);
      return sequences?.at(-1) === last ? sequences : [];
    },
    learn: (subject, sequences) => {
      const [first] = sequences;
      if (first === undefined) return;
      const before = known.get(subject) ?? [];
      const at = before.indexOf(first);
      known.delete(subject);
      known.set(subject, [...before.slice(0, Math.max(0, at)), ...sequences].slice(-mostNamed));
      for (const longestUnused of known.keys()) {
        if (known.size <= mostSubjects) return;
        known.delete(longestUnused);
      }
    },
  };
}
