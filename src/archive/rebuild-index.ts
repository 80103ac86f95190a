import { join } from "node:path";
import { logRef } from "../event-log/event-log.ts";
import type { ArchivedFile } from "./archive-format.ts";
import type { ArchiveIndex } from "./archive-index.ts";
import { ArchiveRefused } from "./find-boundary.ts";
import { faultOfFile, onArchiveFile } from "./read-archive-file.ts";
import type { StoredLog } from "./stored-log.ts";

type Ports = {
  readonly index: ArchiveIndex;
  readonly storedLog: Pick<StoredLog, "firstSequence" | "recorded" | "recordedIn">;
};

/**
 * Makes the index again from the files. The log records the last of them, and these hold the records of those before, so
 * each file is known by its digest before it is read. Throws ArchiveRefused where one is missing or changed.
 */
export async function rebuildIndex({ index, storedLog }: Ports, directory: string): Promise<void> {
  const first = await storedLog.firstSequence();
  const found = new Map<number, ArchivedFile>();
  let next = (await storedLog.recorded()).map(({ event }) => event.data);
  while (next.length > 0) {
    const records: ArchivedFile[] = [];
    for (const file of next.filter(({ number }) => !found.has(number))) {
      records.push(...storedLog.recordedIn(await entriesOfLog(directory, file)));
      found.set(file.number, file);
    }
    next = records;
  }
  const files = [...found.values()].sort((one, other) => one.number - other.number);
  let archivedTo = 0;
  for (const { from, to } of files) if (from === archivedTo + 1) archivedTo = to;
  if (archivedTo < first - 1) {
    throw new ArchiveRefused(`The log begins at ${first}, and it records no file that begins at ${archivedTo + 1}.`);
  }
  await index.incomplete();
  for (const file of files) {
    const digests = await onArchiveFile(join(directory, file.file), (archive) => archive.digests());
    await index.addJobs([{ number: file.number, digests }]);
  }
  await index.addFiles(files);
  await index.complete();
}

async function entriesOfLog(directory: string, file: ArchivedFile) {
  const path = join(directory, file.file);
  const fault = await faultOfFile(path, file);
  if (fault !== null) throw new ArchiveRefused(`${file.file} in ${directory} is not what the log recorded: ${fault}.`);
  return await onArchiveFile(path, (archive) => archive.entriesOf(logRef, () => true));
}
