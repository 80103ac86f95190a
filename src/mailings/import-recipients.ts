import { mailings, newMailing, readNews } from "../commands/read-version.ts";
import type { ContentStore, JobContent } from "../content/content-store.ts";
import { decodeContent } from "../content/encode-content.ts";
import { mailingDecider } from "../domain/mailing/decider.ts";
import type { MailingPart } from "../domain/mailing/events.ts";
import { sizeOfPart } from "../domain/mailing/pace.ts";
import { type Cause, type JobRef, keyOf } from "../event-log/event-log.ts";
import { kindOf } from "../job-kinds/all-job-kinds.ts";
import { createFairSemaphore } from "../process/semaphore.ts";
import { maxRecipients } from "../schemas/job-request.ts";
import { type LineFile, NotUtf8 } from "../schemas/line-file.ts";
import { createPartAdding, expectRoom, type ImportPorts, Refused } from "./add-parts.ts";
import { type AddressSet, createAddressSet } from "./address-set.ts";
import { createCounting, gatherParts, type ImportCounts, keyIn, type LineFault } from "./gather-parts.ts";
import { createKnownAddresses, type Known, type KnownAddresses, knownOf } from "./known-addresses.ts";
import { leaveWhenSlow, type Place } from "./leave-when-slow.ts";
import { recipientLinesOf } from "./recipient-lines.ts";

export type ImportOutcome =
  | { readonly outcome: "imported"; readonly counts: ImportCounts; readonly sequence: number }
  /** What came before the fault was imported. */
  | { readonly outcome: "unreadable"; readonly fault: LineFault; readonly counts: ImportCounts }
  /** `conflict` also where another import of the mailing is running or waits. */
  | Refused["outcome"]
  /** This process imports as much as it may. */
  | { readonly outcome: "busy" };

export type Importer = {
  import(mailing: JobRef, file: LineFile, cause: Cause): Promise<ImportOutcome>;
};

/** Each holds the addresses of its mailing in memory. */
const importsAtOnce = 3;
/** So that no tenant keeps the others out. */
const importsOfTenant = 2;
/** One whose client is slow takes one of these instead, for as long as it sends anything; unless it has many addresses. */
const slowAtOnce = 10;
const slowOfTenant = 3;
const mostAddressesOfSlow = 500_000;
/** Short files come and go in milliseconds: an application that sends several at once is not refused for that. */
const usualPatienceMs = 5000;
const contentsReadAtOnce = 4;

/**
 * Adds recipients to mailings. What was imported when an import ends early, because the client went away or the process
 * died, stays; the same file again adds the rest, as every address stands in a mailing once. Each decision is guarded by
 * the one before it, so of two imports of a mailing at the same time one ends with a conflict.
 */
export function createImporter(ports: ImportPorts, patienceMs = usualPatienceMs): Importer {
  const semaphore = createFairSemaphore(importsAtOnce, importsOfTenant);
  const slow = createFairSemaphore(slowAtOnce, slowOfTenant);
  const importing = new Set<string>();
  const knownAddresses = createKnownAddresses();
  return {
    import: async (mailing, file, cause) => {
      const key = keyOf(mailing);
      if (importing.has(key)) return { outcome: "conflict" };
      importing.add(key);
      try {
        const outcome = await semaphore.runWithin(patienceMs, mailing.tenant, (leave) => {
          const place = { leave, takeSlow: () => slow.takeAtOnce(mailing.tenant) };
          return importInto(ports, knownAddresses, place, mailing, file, cause);
        });
        return outcome ?? { outcome: "busy" };
      } finally {
        importing.delete(key);
      }
    },
  };
}

async function importInto(
  ports: ImportPorts,
  knownAddresses: KnownAddresses,
  place: Place,
  mailing: JobRef,
  file: LineFile,
  cause: Cause,
): Promise<ImportOutcome> {
  const { log, contentStore, now } = ports;
  const known = knownAddresses.take(mailing);
  const from = await readNews(mailings, log, mailing, known?.version ?? newMailing);
  // The rules, asked before anything is stored.
  const asked = mailingDecider.decide({ type: "AddParts", at: now(), parts: [] }, from.state);
  if (asked.outcome === "rejected") return asked;
  if (from.state.status === "absent") throw new Error("The rules refuse to add parts to a mailing that is not there.");
  await expectRoom(ports.room);
  const { settings, parts } = from.state;
  const kind = kindOf(settings.type);
  const stored = await contentStore.get(mailing);
  if (stored === null) throw new Error(`The letter of mailing ${mailing.jobId} is missing.`);
  // The end of a part sends no webhook.
  const { webhookUrl: _, ...common } = decodeContent(stored);
  const letter: JobContent = { ...common, mailingId: mailing.jobId };
  const addresses = await readAddresses(contentStore, mailing, parts, keyIn(kind), known);
  const counting = createCounting();
  const adding = createPartAdding(ports, mailing, from, cause);
  let before = parts.reduce((sum, { recipients }) => sum + recipients, 0);
  const mostOfPart = (): number =>
    settings.brakes === null ? maxRecipients : sizeOfPart(settings.brakes, before, maxRecipients);
  const seal = async (content: JobContent): Promise<void> => {
    before += content.recipients.length;
    await adding.add(content);
  };
  const gathering = gatherParts({
    letter,
    kind,
    maxBytes: contentStore.maxBytes,
    mostOfPart,
    addresses,
    counting,
    seal,
  });
  const { chunks, end } = leaveWhenSlow(file.chunks, place, () => addresses.size <= mostAddressesOfSlow);
  try {
    const fault = await takeLines();
    await gathering.end();
    await adding.end();
    knownAddresses.keep(mailing, { version: adding.version(), addresses });
    return fault === null
      ? { outcome: "imported", counts: counting.counts(), sequence: adding.version().sequence }
      : { outcome: "unreadable", fault, counts: counting.counts() };
  } catch (failure) {
    if (failure instanceof Refused) return failure.outcome;
    await adding.giveUp();
    throw failure;
  } finally {
    end();
  }

  /** Until a fault that ends the file; null where it has none. */
  async function takeLines(): Promise<LineFault | null> {
    try {
      for await (const line of recipientLinesOf({ ...file, chunks }, kind)) {
        if ("fault" in line) {
          const fault = { line: line.number, message: line.fault };
          if (line.ends) return fault;
          counting.faulty(fault);
        } else await gathering.take(line.number, line.read);
      }
      return null;
    } catch (failure) {
      if (!(failure instanceof NotUtf8)) throw failure;
      return { line: failure.line, message: "is not UTF-8" };
    }
  }
}

/** The addresses that the mailing has so far: those that are known, and those in the other contents that its history names. */
async function readAddresses(
  contentStore: ContentStore,
  mailing: JobRef,
  parts: readonly MailingPart[],
  keyOfAddress: (email: string) => string,
  known: Known | null,
): Promise<AddressSet> {
  const before = knownOf(known, parts);
  const addresses = known !== null && before > 0 ? known.addresses : createAddressSet(mailing.jobId);
  for (let first = before; first < parts.length; first += contentsReadAtOnce) {
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
