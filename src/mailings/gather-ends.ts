const endsAtOnce = 20;
const gatherMs = 250;
const twiceAfter = 50;

/**
 * How many ends of parts are one decision about the mailing, or those of how much time: the more the more parts have ended. So
 * a mailing of ten million has fewer than a thousand such decisions, which are read with each decision of a person.
 */
export function howToGather(endedParts: number): { readonly most: number; readonly forMs: number } {
  const patience = 1 + endedParts / twiceAfter;
  return { most: patience * endsAtOnce, forMs: patience * gatherMs };
}
