import { sign } from "node:crypto";
import type { ContentStore } from "../content/content-store.ts";
import { digestOf } from "../content/encode-content.ts";
import { isWholeErasure } from "../domain/job/job-view.ts";
import { isMailingEvent } from "../domain/mailing/events.ts";
import type { Instant } from "../domain/message.ts";
import { type EventLog, isOfJob, type JobRef, type StoredEvent, type TenantEvent } from "../event-log/event-log.ts";
import { type LogMessage, leafHashOf } from "../event-log/log-message.ts";
import { inOrder } from "../event-log/select-events.ts";
import { type EvidenceEntry, type EvidenceStatement, evidenceFormat } from "./evidence-format.ts";
import { LeafHashes } from "./merkle.ts";
import { faultOfSeal, readSeal, type StoredSeal, toSealAnswer } from "./seal.ts";
import type { SealKey } from "./seal-key.ts";
import type { SealedLog } from "./sealed-log.ts";

export type EvidenceSources = {
  readonly log: EventLog;
  readonly sealedLog: SealedLog;
  readonly contentStore: ContentStore;
  readonly key: SealKey;
  readonly now: () => Instant;
};

/**
 * Two lines: the statement, and the signature over its bytes, about a job, or about a mailing as a whole, whose parts have
 * bundles of their own. Null if there is neither, as where a part of a mailing was erased and never became a job. The sealed ranges that
 * contain the job's entries are read once, one after the other; of other jobs' entries only the hashes are kept.
 */
export async function makeEvidence(sources: EvidenceSources, job: JobRef): Promise<string | null> {
  const { log, sealedLog, contentStore, key, now } = sources;
  // First, so that the bundle holds the event of any erasure that has left nothing to read.
  const stored = await contentStore.get(job);
  const { lastSequence } = await sealedLog.state();
  const facts = await log.readHistory(job);
  const whole: StoredEvent<TenantEvent>[] = [...facts, ...(await log.readMailing(job))].sort(inOrder);
  const history = whole.filter(({ sequence }) => sequence <= lastSequence);
  const [first] = history;
  if (first?.event.type !== "JobCreated" && first?.event.type !== "MailingCreated") return null;
  const content = contentLeft(stored, history);
  const sequences = new Set(history.map(({ sequence }) => sequence));
  const { entries, seals } = await prove(sealedLog, sequences);
  const statement: EvidenceStatement = {
    format: evidenceFormat,
    tenant: job.tenant,
    jobId: job.jobId,
    madeAt: now(),
    logSequence: lastSequence,
    entries,
    seals: seals.map(toSealAnswer),
    content: content === null ? null : Buffer.from(content).toString(),
  };
  return signed(statement, key);
}

/** The content without what a recorded erasure covers, even while that is still being overwritten. */
function contentLeft(stored: Uint8Array | null, whole: readonly StoredEvent<TenantEvent>[]): Uint8Array | null {
  if (whole.some(({ event }) => isMailingEvent(event) && event.type === "MailingContentErased")) return null;
  const history = whole.filter(isOfJob);
  const erasure = history.findLast(({ event }) => event.type === "JobContentErased")?.event;
  if (stored === null || erasure?.type !== "JobContentErased") return stored;
  const isWhole = history.some(({ event }) => isWholeErasure(event));
  return !isWhole && digestOf(stored) === erasure.data.contentSha256 ? stored : null;
}

export function signed(statement: EvidenceStatement, { keyId, publicKey, privateKey }: SealKey): string {
  const line = JSON.stringify(statement);
  const signature = sign(null, signedBytesOf(line), privateKey).toString("base64");
  return `${line}\n${JSON.stringify({ keyId, publicKey, signature })}\n`;
}

/** The prefix differs from that of a seal, so that a signature over a seal is never valid for a bundle. */
export const signedBytesOf = (line: string): Buffer => Buffer.from(`waybill.evidence.v1\n${line}`);

type Proven = { readonly entries: EvidenceEntry[]; readonly seals: StoredSeal[] };

async function prove(sealedLog: SealedLog, sequences: ReadonlySet<number>): Promise<Proven> {
  const wanted = [...sequences].sort((one, other) => one - other);
  const proven: Proven = { entries: [], seals: [] };
  for await (const seal of coveringSeals(sealedLog, wanted)) await proveIn(sealedLog, seal, sequences, proven);
  const sealedTo = proven.entries.at(-1)?.sequence ?? 0;
  const [first, last] = [wanted.find((sequence) => sequence > sealedTo), wanted.at(-1)];
  if (first === undefined || last === undefined) return proven;
  for await (const message of between(sealedLog, first - 1, last)) {
    if (sequences.has(message.sequence)) proven.entries.push(toEntry(message, null));
  }
  return proven;
}

async function proveIn(
  sealedLog: SealedLog,
  seal: StoredSeal,
  sequences: ReadonlySet<number>,
  { entries, seals }: Proven,
): Promise<void> {
  const hashes: Buffer[] = [];
  const own: { readonly message: LogMessage; readonly index: number }[] = [];
  for await (const message of between(sealedLog, seal.from - 1, seal.to)) {
    if (sequences.has(message.sequence)) own.push({ message, index: hashes.length });
    hashes.push(leafHashOf(message));
  }
  const tree = new LeafHashes(hashes);
  if (tree.size !== seal.count || tree.root().toString("hex") !== seal.root) {
    throw new EvidenceBroken(`The log from ${seal.from} to ${seal.to} is not what was sealed.`);
  }
  seals.push(seal);
  for (const { message, index } of own) {
    const path = tree.path(index).map((node) => node.toString("hex"));
    entries.push(toEntry(message, { seal: seal.sequence, index, path }));
  }
}

const toEntry = ({ sequence, storedAt, subject, body }: LogMessage, proof: EvidenceEntry["proof"]): EvidenceEntry => ({
  sequence,
  storedAt,
  subject,
  body: Buffer.from(body).toString(),
  proof,
});

/** The messages after one sequence and up to another. */
async function* between(sealedLog: SealedLog, after: number, to: number): AsyncGenerator<LogMessage> {
  for await (const batch of sealedLog.messages(after, "all", to)) {
    for (const message of batch) {
      if (message.sequence > to) return;
      yield message;
      if (message.sequence === to) return;
    }
  }
}

/** The log does not return what was sealed, so no valid bundle can be made. */
export class EvidenceBroken extends Error {
  override readonly name = "EvidenceBroken";
}

/**
 * The seals whose ranges contain any of these ascending sequences, in order; none for sequences that are not sealed yet.
 * A job can have events at both ends of a log, with a hundred thousand seals between: those are neither read nor checked.
 * A seal stands after its range, so the seal of an event is among the first after that event.
 */
export async function* coveringSeals(
  sealedLog: Pick<SealedLog, "messages" | "isPassed">,
  sequences: readonly number[],
): AsyncGenerator<StoredSeal> {
  let next = 0;
  for (;;) {
    const begin = next;
    for await (const batch of sealedLog.messages(sequences[next] ?? 0, "seals")) {
      for (const message of batch) {
        if (message.sequence <= (sequences[next] ?? 0)) continue;
        const seal = readSeal(message);
        if (seal === null && (await sealedLog.isPassed(message))) continue;
        if (seal === null) throw new EvidenceBroken(`There is no seal at ${message.sequence}.`);
        if (seal.to < (sequences[next] ?? 0)) continue;
        if (faultOfSeal(seal) !== null) throw new EvidenceBroken(`There is no seal at ${message.sequence}.`);
        // The bundle would lack what that one covered, and be signed as one that lacks nothing.
        if (seal.from > (sequences[next] ?? 0))
          throw new EvidenceBroken(
            `The seal that covered ${sequences[next]} is gone: the next one begins at ${seal.from}.`,
          );
        yield seal;
        while ((sequences[next] ?? Number.POSITIVE_INFINITY) <= seal.to) next += 1;
        if (next === sequences.length) return;
      }
      // Skips ahead: the seals after the next event are requested anew.
      if ((sequences[next] ?? 0) > (batch.at(-1)?.sequence ?? 0)) break;
    }
    if (next === begin) return;
  }
}
