import { type Check, failed, passed, type Trust } from "./check.ts";
import type { EvidenceStatement } from "./evidence-format.ts";
import { digestOfSeal } from "./seal.ts";

/** Compares a bundle with the seals that were published. None if the reader has no such seals. */
export function checkPublished({ seals, entries }: EvidenceStatement, { seals: known }: Trust): readonly Check[] {
  if (known.size === 0) return [];
  const published = "Each seal of the log in the bundle is among those that were published";
  const sealedTo = [...known.keys()].reduce((last, to) => Math.max(last, to), 0);
  const unknown = seals.filter((seal) => known.get(seal.to) !== digestOfSeal(seal));
  const strange = unknown.map(({ from, to }) => `The seal of events ${from} to ${to} is not.`);
  const isLater = unknown.every(({ from }) => from > sealedTo);
  const since = isLater ? ` Those that you have end at ${sealedTo}: get the ones that were published since.` : "";
  // Ranges follow one another: a published seal that ends within this one's range is of another history.
  const isLacking = unknown.every(
    ({ from, to }) => !known.has(to) && ![...known.keys()].some((end) => from <= end && end < to),
  );
  const proven = "Each entry that a published seal covers has its proof";
  const unproven = entries.flatMap(({ sequence, proof }, index) => {
    if (proof !== null || sequence > sealedTo) return [];
    return [`Entry ${index + 1} of the bundle (sequence ${sequence}) has no proof, and a published seal covers it.`];
  });
  const again = "Ask for the evidence again: a bundle that is made now has the proof.";
  const missing = [...unproven.slice(0, 20), again].join(" ");
  return [
    strange.length === 0
      ? passed(published, "")
      : {
          ...failed(published, `${strange.join(" ")}${since}`),
          ...(isLacking && { mayLack: isLater ? "later" : "some" }),
        },
    unproven.length === 0 ? passed(proven, "") : { ...failed(proven, missing), mayBeOld: true },
  ];
}
