import { type LogMessage, leafHashOf } from "../event-log/log-message.ts";
import type { LogSource, Trust } from "./check.ts";
import { type ChainFinding, checkChain } from "./check-chain.ts";
import { createGrowingTree } from "./merkle.ts";
import { isPassSubject, type PassedMessage, readPassed } from "./passed-messages.ts";
import { isSealSubject, type StoredSeal } from "./seal.ts";
import { findSuspects } from "./suspects.ts";

export type LogFinding =
  | ChainFinding
  | {
      readonly kind: "missing" | "added" | "changed" | "reordered" | "cut" | "archive";
      /** The range of the seal that is broken, or of the file. */
      readonly from: number;
      readonly to: number;
      readonly message: string;
      /** The first of the sequences concerned, if they can be determined. */
      readonly sequences: readonly number[];
    };

export type LogReport = {
  readonly findings: readonly LogFinding[];
  readonly seals: number;
  readonly messages: number;
  readonly lastSequence: number;
  /** The end of the last seal's range; 0 if there is no seal. */
  readonly sealedTo: number;
  /** The number of messages after it, which are not sealed yet. */
  readonly unsealed: number;
  readonly keyIds: readonly string[];
  /** The messages that readers of the log skip, as an operator decided. */
  readonly passed: readonly PassedMessage[];
};

const namedAtMost = 10;
const lookedAtCloselyAtMost = 20;

/**
 * Recomputes every seal over the whole log: reads the seals first, then each message once, keeping only the hashes of one
 * growing tree. Ranges that do not match their seal are read once more, to name the messages that look altered.
 */
export async function verifyLog(
  source: LogSource,
  trust: Trust,
  onProgress: (sequence: number) => void = () => {},
): Promise<LogReport> {
  const { seals, findings: ofChain, unreadable } = await checkChain(source, trust);
  const walk = createWalk(seals);
  const passes: LogMessage[] = [];
  for await (const batch of source.messages(0, "all")) {
    for (const message of batch) {
      walk.take(message);
      if (isPassSubject(message.subject)) passes.push(message);
    }
    onProgress(walk.lastSequence());
  }
  const ofRanges = walk.end();
  const passed = await readPassed(source, passes);
  const passedBy = new Set(passed.filter(({ holds }) => holds).map(({ sequence }) => sequence));
  // A seal that was made unreadable still counts as missing: the seal after it shows the gap.
  const isPassed = ({ kind, sequences: [at = 0] }: ChainFinding): boolean =>
    kind === "seal" && unreadable.has(at) && passedBy.has(at);
  const findings: LogFinding[] = ofChain.filter((finding) => !isPassed(finding));
  for (const [index, finding] of ofRanges.entries()) {
    const isUnnamed = finding.sequences.length === 0 && finding.kind === "changed";
    findings.push(
      isUnnamed && index < lookedAtCloselyAtMost ? { ...finding, ...(await findSuspects(source, finding)) } : finding,
    );
  }
  return {
    findings,
    seals: seals.length,
    messages: walk.count(),
    lastSequence: walk.lastSequence(),
    sealedTo: seals.at(-1)?.to ?? 0,
    unsealed: walk.unsealed(),
    keyIds: [...new Set(seals.map(({ keyId }) => keyId))],
    passed,
  };
}

type RangeFinding = Exclude<LogFinding, ChainFinding>;

/** Walks through the log and the seals together, in order. */
function createWalk(seals: readonly StoredSeal[]) {
  const findings: RangeFinding[] = [];
  let next = 0;
  let tree = createGrowingTree();
  let expected = seals[0]?.from ?? 0;
  let absent: number[] = [];
  let displaced: number[] = [];
  let [lastSequence, count, unsealed] = [0, 0, 0];

  const missUpTo = (sequence: number): void => {
    for (let one = expected; one < sequence && absent.length < namedAtMost; one += 1) absent.push(one);
    expected = Math.max(expected, sequence + 1);
  };
  const close = (seal: StoredSeal, isEnd: boolean): void => {
    missUpTo(seal.to + 1);
    const endsAt = isEnd ? lastSequence : null;
    const finding = findingOf(seal, { size: tree.size(), root: tree.root(), absent, displaced, endsAt });
    if (finding !== null) findings.push(finding);
    next += 1;
    tree = createGrowingTree();
    [absent, displaced] = [[], []];
    expected = seals[next]?.from ?? 0;
  };

  return {
    take: (message: LogMessage): void => {
      const { sequence } = message;
      count += 1;
      for (let seal = seals[next]; seal !== undefined && seal.to < sequence; seal = seals[next]) close(seal, false);
      const isDisplaced = sequence <= lastSequence;
      lastSequence = Math.max(lastSequence, sequence);
      const seal = seals[next];
      if (isDisplaced && displaced.length < namedAtMost) displaced.push(sequence);
      if (seal === undefined) {
        if (!isSealSubject(message.subject)) unsealed += 1;
        return;
      }
      if (!isDisplaced) missUpTo(sequence);
      tree.add(leafHashOf(message));
    },
    end: (): readonly RangeFinding[] => {
      for (let seal = seals[next]; seal !== undefined; seal = seals[next]) close(seal, true);
      // No seal covers the order there, and a log has no other: the message may pose as one that is sealed.
      if (displaced.length > 0) {
        const message = `After what is sealed, ${displaced.join(", ")} came after later ones: put in, or put in another's place.`;
        const from = (seals.at(-1)?.to ?? 0) + 1;
        findings.push({ kind: "reordered", from, to: lastSequence, message, sequences: displaced });
      }
      return findings;
    },
    lastSequence: () => lastSequence,
    count: () => count,
    unsealed: () => unsealed,
  };
}

type Walked = {
  readonly size: number;
  readonly root: Buffer;
  readonly absent: readonly number[];
  readonly displaced: readonly number[];
  /** The end of the log, if it lies before or within the range. */
  readonly endsAt: number | null;
};

function findingOf({ from, to, count, root }: StoredSeal, walked: Walked): RangeFinding | null {
  const { size, absent, displaced, endsAt } = walked;
  if (size === count && walked.root.toString("hex") === root && displaced.length === 0) return null;
  const range = `events ${from} to ${to}`;
  if (displaced.length > 0) {
    const message = `In the range of ${range} the order was changed: ${displaced.join(", ")} came after later ones.`;
    return { kind: "reordered", from, to, message, sequences: displaced };
  }
  if (endsAt !== null && endsAt < to && size < count) {
    const message = `The log ends at ${endsAt}, and ${range} were sealed: its end was cut off, or it was rolled back.`;
    return { kind: "cut", from, to, message, sequences: absent };
  }
  if (size < count) {
    const named =
      absent.length === 0 ? "" : ` Absent: ${absent.join(", ")}${absent.length === namedAtMost ? ", …" : ""}.`;
    const message = `Of ${range} ${count} messages were sealed and ${size} are there: ${count - size} were removed.${named}`;
    return { kind: "missing", from, to, message, sequences: absent };
  }
  if (size > count) {
    const message = `Of ${range} ${count} messages were sealed and ${size} are there: ${size - count} were added.`;
    return { kind: "added", from, to, message, sequences: [] };
  }
  const message = `Among ${range} something was changed or put in another's place: they are not what was sealed.`;
  return { kind: "changed", from, to, message, sequences: [] };
}
