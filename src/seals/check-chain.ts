import type { LogSource, Trust } from "./check.ts";
import { digestOfSeal, faultOfSeal, readSeal, type StoredSeal } from "./seal.ts";

export type ChainFinding = {
  readonly kind: "seal" | "key" | "rewritten";
  /** The range that the finding leaves unproven. */
  readonly from: number;
  readonly to: number;
  readonly message: string;
  /** The sequence of the seal in question. */
  readonly sequences: readonly number[];
};

type Chain = {
  readonly seals: readonly StoredSeal[];
  readonly findings: readonly ChainFinding[];
  /** Messages among the seals that are not seals: one finding each, unless the message was passed. */
  readonly unreadable: ReadonlySet<number>;
};

/** Reads all seals of a log, a few hundred bytes each, and checks that each follows from the one before. */
export async function checkChain(source: LogSource, trust: Trust): Promise<Chain> {
  const seals: StoredSeal[] = [];
  const findings: ChainFinding[] = [];
  const unreadable = new Set<number>();
  let sealedTo = 0;
  for await (const batch of source.messages(0, "seals")) {
    for (const message of batch) {
      const seal = readSeal(message);
      if (seal === null) unreadable.add(message.sequence);
      const before = seals.at(-1) ?? null;
      const fault = seal === null ? "it cannot be read" : (faultOfSeal(seal) ?? faultOfPlace(seal, before, sealedTo));
      if (fault !== null) {
        const [from, to] = [seal?.from ?? sealedTo + 1, seal?.to ?? message.sequence];
        const text = `The seal at ${message.sequence}, of events ${from} to ${to}, does not hold: ${fault}.`;
        findings.push({ kind: "seal", from, to, message: text, sequences: [message.sequence] });
      }
      // A seal that was written in the place of another proves nothing against the log.
      if (seal === null || seal.from <= sealedTo || seal.to < seal.from) continue;
      seals.push(seal);
      sealedTo = seal.to;
    }
  }
  return { seals, findings: [...findings, ...checkKeys(seals, trust), ...checkPublished(seals, trust)], unreadable };
}

function faultOfPlace(seal: StoredSeal, before: StoredSeal | null, sealedTo: number): string | null {
  if (seal.sequence <= seal.to) return "it stands among what it seals";
  if (seal.from > sealedTo + 1) return `events ${sealedTo + 1} to ${seal.from - 1} were sealed by one that is gone`;
  if (seal.from !== sealedTo + 1) return `it begins at ${seal.from}, and the one before ended at ${sealedTo}`;
  const digest = before === null ? null : digestOfSeal(before);
  return seal.previous === digest ? null : "it was made after another seal than the one before it";
}

/** A seal names the seal before it, so a seal with a trusted key vouches for everything before it, whichever key signed that. */
function checkKeys(seals: readonly StoredSeal[], { keys }: Trust): readonly ChainFinding[] {
  if (keys.length === 0) return [];
  const lastKnown = seals.findLastIndex(({ publicKey }) => keys.includes(publicKey));
  const [first, last] = [seals[lastKnown + 1], seals.at(-1)];
  if (first === undefined || last === undefined) return [];
  const message = `The seals of events ${first.from} to ${last.to} are signed with key ${first.keyId}, which is none that you trust.`;
  // As after `seals rotate`, until the next seal.
  const isNew =
    lastKnown < 0
      ? ` No seal is signed with a key that you trust: if that one is new, name the one before it too, by --key.`
      : "";
  return [{ kind: "key", from: first.from, to: last.to, message: message + isNew, sequences: [first.sequence] }];
}

function checkPublished(seals: readonly StoredSeal[], { seals: published }: Trust): readonly ChainFinding[] {
  const digests = new Map(seals.map((seal) => [seal.to, digestOfSeal(seal)]));
  const ends = [...published.keys()].sort((one, other) => one - other);
  const firstLost = ends.findIndex((to) => digests.get(to) !== published.get(to));
  const [from, to] = [firstLost === 0 ? 1 : (ends[firstLost - 1] ?? 0) + 1, ends[firstLost]];
  if (to === undefined) return [];
  const found = digests.has(to) ? "the log holds another one" : "the log holds no such seal";
  const message = `A seal of events up to ${to} was published, and ${found}: the log was rewritten or rolled back from ${from} on.`;
  const isLater = to > (seals.at(-1)?.to ?? 0);
  const older = isLater
    ? " An export that was made before that seal shows the same: if this is one, make a new one."
    : "";
  return [{ kind: "rewritten", from, to, message: message + older, sequences: [] }];
}
