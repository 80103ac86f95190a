import { v7 as newId } from "uuid";
import { foldMailing, handleMailingCommand, type MailingVersion, readMailing } from "../commands/handle-command.ts";
import type { ContentRecipient, ContentStore, JobContent } from "../content/content-store.ts";
import { decodeContent, digestOf, encodeContent } from "../content/encode-content.ts";
import { mailingDecider } from "../domain/mailing/decider.ts";
import type { MailingPart } from "../domain/mailing/events.ts";
import { sizeOfPart } from "../domain/mailing/pace.ts";
import type { MailingRejection } from "../domain/mailing/state.ts";
import type { Instant } from "../domain/message.ts";
import { Unavailable } from "../domain/unavailable.ts";
import { type Cause, type EventLog, type JobRef, keyOf, LogFull, VersionConflict } from "../event-log/event-log.ts";
import type { LogRoom } from "../event-log/log-room.ts";
import { persistently } from "../event-log/persistently.ts";
import { kindOf } from "../job-kinds/all-job-kinds.ts";
import type { JobKind } from "../job-kinds/job-kind.ts";
import { maxRecipients } from "../schemas/job-request.ts";
import { type LineFile, NotUtf8 } from "../schemas/line-file.ts";
import { type AddressSet, createAddressSet } from "./address-set.ts";
import { recipientLinesOf } from "./recipient-lines.ts";

/** A line that was left out, and why. */
export type LineFault = { readonly line: number; readonly message: string };

/** `lines` is the sum of the others. Of the faults, the first. */
export type ImportCounts = {
  readonly lines: number;
  readonly added: number;
  readonly duplicates: number;
  readonly faulty: number;
  readonly faults: readonly LineFault[];
};

export type ImportOutcome =
  | { readonly outcome: "imported"; readonly counts: ImportCounts; readonly sequence: number }
  /** What came before the fault was imported. */
  | { readonly outcome: "unreadable"; readonly fault: LineFault; readonly counts: ImportCounts }
  | { readonly outcome: "rejected"; readonly rejection: MailingRejection }
  /** Another import of the mailing is running, or has decided something meanwhile. */
  | { readonly outcome: "conflict" }
  /** This process imports as much as it may. */
  | { readonly outcome: "busy" };

export type Importer = {
  import(mailing: JobRef, file: LineFile, cause: Cause): Promise<ImportOutcome>;
};

type Ports = {
  readonly log: EventLog;
  readonly contentStore: ContentStore;
  readonly room: LogRoom;
  readonly now: () => Instant;
};

/** Each holds the addresses of its mailing in memory. */
const importsAtOnce = 3;
const faultsShown = 100;
/** The parts that one event names: their contents, of a megabyte at most, are stored at the same time. */
const partsAtOnce = 8;
const contentsReadAtOnce = 4;
const patienceMs = 30_000;
/** Around the recipients in the JSON of a content. */
const bracketBytes = 64;

/**
 * Adds recipients to mailings. What was imported when an import ends early, because the client went away or the process
 * died, stays; the same file again adds the rest, as every address stands in a mailing once. Each decision is guarded by
 * the one before it, so of two imports of a mailing at the same time one ends with a conflict.
 */
export function createImporter(ports: Ports): Importer {
  const running = new Set<string>();
  return {
    import: async (mailing, file, cause) => {
      const key = keyOf(mailing);
      if (running.has(key)) return { outcome: "conflict" };
      if (running.size >= importsAtOnce) return { outcome: "busy" };
      running.add(key);
      try {
        return await importInto(ports, mailing, file, cause);
      } finally {
        running.delete(key);
      }
    },
  };
}

/** Ends an import that may not go on. */
class Refused extends Error {
  override readonly name = "Refused";
  readonly outcome: Extract<ImportOutcome, { outcome: "rejected" | "conflict" }>;

  constructor(outcome: Refused["outcome"]) {
    super("The import cannot go on.");
    this.outcome = outcome;
  }
}

const rejectedFor = (rejection: MailingRejection) => new Refused({ outcome: "rejected", rejection });

async function importInto(ports: Ports, mailing: JobRef, file: LineFile, cause: Cause): Promise<ImportOutcome> {
  const { log, contentStore, now } = ports;
  const from = await readMailing(log, mailing);
  // The rules, asked before anything is stored.
  const asked = mailingDecider.decide({ type: "AddParts", at: now(), parts: [] }, from.state);
  if (asked.outcome === "rejected") return asked;
  if (from.state.status === "absent") throw new Error("The rules refuse to add parts to a mailing that is not there.");
  const { settings, parts } = from.state;
  const kind = kindOf(settings.type);
  const stored = await contentStore.get(mailing);
  if (stored === null) throw new Error(`The letter of mailing ${mailing.jobId} is missing.`);
  // The end of a part sends no webhook.
  const { webhookUrl: _, ...common } = decodeContent(stored);
  const letter: JobContent = { ...common, mailingId: mailing.jobId };
  const addresses = await readAddresses(contentStore, mailing, parts, keyIn(kind));
  const counting = createCounting();
  const adding = createAdding(ports, mailing, from, cause);
  let before = parts.reduce((sum, { recipients }) => sum + recipients, 0);
  const mostOfPart = (): number =>
    settings.brakes === null ? maxRecipients : sizeOfPart(settings.brakes, before, maxRecipients);
  const seal = async (content: JobContent): Promise<void> => {
    before += content.recipients.length;
    await adding.add(content);
  };
  const chunk = createChunk({ letter, kind, maxBytes: contentStore.maxBytes, mostOfPart, addresses, counting, seal });
  try {
    for await (const line of recipientLinesOf(file, kind)) {
      if ("fault" in line) {
        const fault = { line: line.number, message: line.fault };
        if (line.ends) return await unreadable(fault);
        counting.faulty(fault);
      } else await chunk.take(line.number, line.read);
    }
    await finish();
    return { outcome: "imported", counts: counting.counts(), sequence: adding.sequence() };
  } catch (failure) {
    if (failure instanceof NotUtf8) return await unreadable({ line: counting.lines() + 1, message: "is not UTF-8" });
    if (failure instanceof Refused) return failure.outcome;
    throw failure;
  }

  async function finish(): Promise<void> {
    await chunk.end();
    await adding.end();
  }
  async function unreadable(fault: LineFault): Promise<ImportOutcome> {
    await finish();
    return { outcome: "unreadable", fault, counts: counting.counts() };
  }
}

const keyIn = ({ recipientKey }: JobKind): ((email: string) => string) => recipientKey ?? ((email) => email);

/** The addresses that the mailing has so far, by the contents that its history names. */
async function readAddresses(
  contentStore: ContentStore,
  mailing: JobRef,
  parts: readonly MailingPart[],
  keyOfAddress: (email: string) => string,
): Promise<AddressSet> {
  const addresses = createAddressSet(mailing.jobId);
  for (let first = 0; first < parts.length; first += contentsReadAtOnce) {
    const some = parts.slice(first, first + contentsReadAtOnce);
    const contents = await Promise.all(some.map(({ jobId }) => contentStore.get({ ...mailing, jobId })));
    for (const [index, content] of contents.entries()) {
      if (content === null)
        throw new Error(`The content of part ${first + index} of mailing ${mailing.jobId} is missing.`);
      for (const one of decodeContent(content).recipients) if (one !== null) addresses.add(keyOfAddress(one.email));
    }
  }
  return addresses;
}

type Counting = ReturnType<typeof createCounting>;

function createCounting() {
  const counts = { added: 0, duplicates: 0, faulty: 0 };
  const faults: LineFault[] = [];
  const lines = (): number => counts.added + counts.duplicates + counts.faulty;
  return {
    added: (recipients: number): void => {
      counts.added += recipients;
    },
    duplicate: (): void => {
      counts.duplicates += 1;
    },
    faulty: (fault: LineFault): void => {
      counts.faulty += 1;
      if (faults.length < faultsShown) faults.push(fault);
    },
    lines,
    /** Faults that show late, in a template, come after those of later lines. */
    counts: (): ImportCounts => ({
      lines: lines(),
      ...counts,
      faults: [...faults].sort((one, other) => one.line - other.line),
    }),
  };
}

type ChunkParts = {
  readonly letter: JobContent;
  readonly kind: JobKind;
  readonly maxBytes: number;
  /** How many recipients the part that is being gathered may have. */
  readonly mostOfPart: () => number;
  readonly addresses: AddressSet;
  readonly counting: Counting;
  readonly seal: (content: JobContent) => Promise<void>;
};

type Line = { readonly number: number; readonly recipient: ContentRecipient };

/** Gathers the recipients of one part, and seals it when no more fit in. */
function createChunk({ letter, kind, maxBytes, mostOfPart, addresses, counting, seal }: ChunkParts) {
  const keyOfAddress = keyIn(kind);
  const roomForRecipients = maxBytes - encodeContent(letter).length - bracketBytes;
  /** By address; the letter may not be such that it can be filled in for them. */
  const unchecked = new Map<string, Line>();
  let checked: ContentRecipient[] = [];
  let bytes = 0;

  const check = async (): Promise<void> => {
    const lines = [...unchecked.values()];
    unchecked.clear();
    const faults = await faultsOfLetter(letter, kind, lines);
    for (const [index, { number, recipient }] of lines.entries()) {
      const message = faults.get(index);
      if (message !== undefined) {
        counting.faulty({ line: number, message });
        continue;
      }
      addresses.add(keyOfAddress(recipient.email));
      checked.push(recipient);
    }
    counting.added(lines.length - faults.size);
  };
  const end = async (): Promise<void> => {
    await check();
    const recipients = checked;
    checked = [];
    bytes = 0;
    if (recipients.length > 0) await seal({ ...letter, recipients });
  };

  return {
    take: async (number: number, recipient: ContentRecipient): Promise<void> => {
      const key = keyOfAddress(recipient.email);
      // Of two lines with an address the first counts, unless the letter cannot be filled in for it.
      if (unchecked.has(key)) await check();
      if (addresses.has(key)) return counting.duplicate();
      const own = Buffer.byteLength(JSON.stringify(recipient)) + 1;
      if (own > roomForRecipients) {
        const message = `takes ${own} bytes; expected at most ${roomForRecipients}, with this letter`;
        return counting.faulty({ line: number, message });
      }
      if (checked.length + unchecked.size >= mostOfPart() || bytes + own > roomForRecipients) await end();
      unchecked.set(key, { number, recipient });
      bytes += own;
    },
    end,
  };
}

/** Why the letter cannot be filled in, by the index of the line. Those of one recipient do not hide those of the next. */
async function faultsOfLetter(
  letter: JobContent,
  kind: JobKind,
  lines: readonly Line[],
): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  for (let before = -1; before < found.size; ) {
    before = found.size;
    const left = lines.map((_, index) => index).filter((index) => !found.has(index));
    const recipients = left.map((index) => (lines[index] as Line).recipient);
    const faults = (await kind.checkContent?.({ ...letter, recipients }, { type: kind.type, recipients })) ?? [];
    for (const { pointer, message } of faults) {
      const index = left[Number(pointer.replace("/recipients/", ""))];
      if (index !== undefined) found.set(index, message.replace(/^recipients\[\d+\] /, ""));
    }
  }
  return found;
}

/** A client that has sent half of its file does not want to begin again because NATS has restarted. */
const patiently = <Result>(step: () => Promise<Result>): Promise<Result> =>
  persistently(AbortSignal.timeout(patienceMs), step, (failure) => failure instanceof Unavailable);

/** Stores parts, some at a time, and then decides that they belong to the mailing. */
function createAdding({ log, contentStore, room, now }: Ports, mailing: JobRef, from: MailingVersion, cause: Cause) {
  let version = from;
  let pending: { readonly part: MailingPart; readonly storing: Promise<unknown> }[] = [];

  /** Whether the parts were added, in spite of an answer that was lost or is about another one's decision. */
  const areAdded = async (parts: readonly MailingPart[]): Promise<boolean> => {
    const found = await readMailing(log, mailing);
    const last = parts.at(-1)?.jobId;
    const isThere = found.state.status !== "absent" && found.state.parts.some(({ jobId }) => jobId === last);
    if (isThere) version = found;
    return isThere;
  };
  /** A test changes nothing of what an import has found. */
  const wasOnlyTested = async (): Promise<boolean> => {
    const decisions = await log.readMailing(mailing);
    const news = decisions.filter(({ sequence }) => sequence > version.sequence);
    const isHarmless = news.length > 0 && news.every(({ event }) => event.type === "MailingTested");
    if (isHarmless) version = foldMailing(decisions);
    return isHarmless;
  };
  const decide = async (parts: readonly MailingPart[]): Promise<void> => {
    const command = { type: "AddParts", at: now(), parts } as const;
    try {
      const outcome = await handleMailingCommand(log, mailing, command, cause, { from: version, maxConflicts: 0 });
      if (outcome.outcome === "rejected") throw rejectedFor(outcome.rejection);
      version = outcome;
    } catch (failure) {
      if (!(failure instanceof VersionConflict)) throw failure;
      if (await areAdded(parts)) return;
      if (await wasOnlyTested()) return await decide(parts);
      const decision = mailingDecider.decide(command, (await readMailing(log, mailing)).state);
      throw decision.outcome === "rejected" ? rejectedFor(decision.rejection) : new Refused({ outcome: "conflict" });
    }
  };
  const commit = async (): Promise<void> => {
    const parts = pending.map(({ part }) => part);
    const storing = pending.map((one) => one.storing);
    pending = [];
    if (parts.length === 0) return;
    await Promise.all(storing);
    try {
      await patiently(async () => {
        if (!(await room.isLeftForJobs())) throw new LogFull("There is no room for more recipients.");
        await decide(parts);
      });
    } catch (failure) {
      if (!(failure instanceof Refused)) throw failure;
      // They were not added, and never will be: no other import knows their ids.
      await Promise.all(parts.map(({ jobId }) => contentStore.erase({ ...mailing, jobId })));
      throw failure;
    }
  };

  return {
    add: async (content: JobContent): Promise<void> => {
      const bytes = encodeContent(content);
      // The id is of this attempt alone: what another one left behind is not taken for it.
      const jobId = newId();
      const storing = patiently(() => contentStore.put({ ...mailing, jobId }, bytes));
      // Reported once it is waited for.
      storing.catch(() => {});
      pending.push({ part: { jobId, recipients: content.recipients.length, contentSha256: digestOf(bytes) }, storing });
      if (pending.length === partsAtOnce) await commit();
    },
    end: commit,
    sequence: (): number => version.sequence,
  };
}
