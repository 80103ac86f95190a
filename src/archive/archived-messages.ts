import { logRef } from "../event-log/event-log.ts";
import type { LogMessage } from "../event-log/log-message.ts";
import { isSealSubject } from "../seals/seal.ts";
import type { SealedLog } from "../seals/sealed-log.ts";
import type { Archive } from "./archive.ts";

/** The bytes of the whole log: what was cut off comes from the files, and throws Archived where they are not at hand. */
export const withArchivedMessages = (sealedLog: SealedLog, archive: Archive): SealedLog => ({
  ...sealedLog,
  messages: async function* (afterSequence, which) {
    const begin = await beginOf(sealedLog, archive, afterSequence);
    if (begin > afterSequence + 1) yield* cutOff(archive, afterSequence, begin, which);
    yield* sealedLog.messages(Math.max(afterSequence, begin - 1), which);
  },
});

/** The first message after a sequence that the log itself still has; 0 where the archive has none after that sequence. */
async function beginOf(sealedLog: SealedLog, archive: Archive, afterSequence: number): Promise<number> {
  const isArchived = (await archive.files()).some(({ to }) => to > afterSequence);
  if (!isArchived) return 0;
  for await (const [first] of sealedLog.messages(afterSequence, "all")) return first?.sequence ?? 0;
  return 0;
}

async function* cutOff(
  archive: Archive,
  afterSequence: number,
  begin: number,
  which: "all" | "seals",
): AsyncGenerator<readonly LogMessage[]> {
  const isWanted = ({ sequence }: LogMessage): boolean => sequence > afterSequence && sequence < begin;
  if (which === "seals") {
    const seals = (await archive.entriesOf(logRef)).filter(({ subject }) => isSealSubject(subject)).filter(isWanted);
    if (seals.length > 0) yield seals;
    return;
  }
  const files = (await archive.files()).filter(({ from, to }) => to > afterSequence && from < begin);
  for await (const entries of archive.entries(files, afterSequence)) {
    const wanted = entries.filter(isWanted);
    if (wanted.length > 0) yield wanted;
  }
}
