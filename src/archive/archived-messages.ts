import { logRef } from "../event-log/event-log.ts";
import type { LogMessage } from "../event-log/log-message.ts";
import { isPassOf } from "../seals/passed-messages.ts";
import { isSealSubject, readSeal } from "../seals/seal.ts";
import type { SealedLog } from "../seals/sealed-log.ts";
import type { Archive } from "./archive.ts";
import { archivedBetween, inRuns } from "./archived-between.ts";

/** The bytes of the whole log: what was cut off comes from the files, and throws Archived where they are not at hand. */
export const withArchivedMessages = (sealedLog: SealedLog, archive: Archive): SealedLog => ({
  ...sealedLog,
  sealAt: async (sequence) => {
    const there = await sealedLog.sealAt(sequence);
    if (there !== null) return there;
    const archived = await archive.entryAt(sequence);
    return archived === null || !isSealSubject(archived.entry.subject) ? null : readSeal(archived.entry);
  },
  isPassed: async (message) => (await sealedLog.isPassed(message)) || (await isPassedInArchive(archive, message)),
  messages: (afterSequence, which, upTo = Number.POSITIVE_INFINITY) =>
    which === "all" ? messages(sealedLog, archive, afterSequence, upTo) : seals(sealedLog, archive, afterSequence),
});

/** The decision comes after the message, so of a message that the log still has, no file is read. */
async function isPassedInArchive(archive: Archive, message: LogMessage): Promise<boolean> {
  const after = { after: message.sequence, before: Number.POSITIVE_INFINITY };
  for await (const entries of archive.byFile(logRef, after)) {
    if (entries.some((entry) => isPassOf(message, entry))) return true;
  }
  return false;
}

/** The log can be cut while it is read. */
async function* messages(
  sealedLog: SealedLog,
  archive: Archive,
  afterSequence: number,
  upTo: number,
): AsyncGenerator<readonly LogMessage[]> {
  let last = afterSequence;
  for await (const batch of sealedLog.messages(afterSequence, "all")) {
    for (const run of inRuns(batch)) {
      yield* archivedBetween(archive, last, Math.min(run[0]?.sequence ?? 0, upTo + 1));
      last = run.at(-1)?.sequence ?? last;
      yield run;
    }
  }
}

/** A seal says where the one before ended, and so whether one is missing that was cut off. */
async function* seals(
  sealedLog: SealedLog,
  archive: Archive,
  afterSequence: number,
): AsyncGenerator<readonly LogMessage[]> {
  let last = afterSequence;
  let sealedTo: number | null = null;
  for await (const batch of sealedLog.messages(afterSequence, "seals")) {
    let found: LogMessage[] = [];
    for (const message of batch) {
      const seal = readSeal(message);
      const isNext = sealedTo === null ? await hasAll(sealedLog, archive, last) : (seal?.from ?? 0) <= sealedTo + 1;
      if (!isNext) {
        if (found.length > 0) yield found;
        found = [];
        yield* archivedSeals(archive, last, message.sequence);
      }
      found.push(message);
      last = message.sequence;
      sealedTo = seal?.to ?? sealedTo ?? 0;
    }
    yield found;
  }
}

/** Whether the log itself still has everything after a sequence. */
async function hasAll(sealedLog: SealedLog, archive: Archive, afterSequence: number): Promise<boolean> {
  if (!(await archive.files()).some(({ to }) => to > afterSequence)) return true;
  for await (const [first] of sealedLog.messages(afterSequence, "all")) return first?.sequence === afterSequence + 1;
  return true;
}

/** File by file: who looks for one seal needs one file, however many there are. */
async function* archivedSeals(archive: Archive, after: number, before: number): AsyncGenerator<readonly LogMessage[]> {
  for await (const entries of archive.byFile(logRef, { after, before })) {
    const seals = entries.filter(
      ({ sequence, subject }) => sequence > after && sequence < before && isSealSubject(subject),
    );
    if (seals.length > 0) yield seals;
  }
}
