import type { Archive } from "../archive/archive.ts";
import type { ArchivedFile } from "../archive/archive-format.ts";
import type { RecordedFiles } from "../archive/recorded-files.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import { archiveOf, indexAdvice } from "../roles/parts.ts";
import type { LogFinding } from "../seals/verify-log.ts";
import type { CompleteConfig } from "../settings/config.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";

type ArchiveOptions = { readonly archive?: string; readonly json?: boolean };

/** The archive in the directory that the command names, or else the settings. */
export const archiveFor = (
  connection: JetStreamConnection,
  config: CompleteConfig,
  { archive }: ArchiveOptions,
): Archive => archiveOf(connection, { ...config, archiveDir: archive ?? config.archiveDir });

/**
 * Names every file that is not, byte for byte, what the list of files says: without it the rest cannot be compared. Returns
 * the list.
 */
export async function checkArchive(
  context: CommandContext,
  archive: Archive,
  { json }: ArchiveOptions,
): Promise<readonly ArchivedFile[]> {
  const indexFault = await archive.indexFault();
  if (indexFault !== null) throw new CommandFailed(`${indexFault}\n${indexAdvice}`);
  const faults: { readonly file: string; readonly fault: string }[] = [];
  const files = await archive.files();
  for (const file of files) {
    const fault = await archive.faultOf(file);
    if (fault !== null) faults.push({ file: file.file, fault });
  }
  if (faults.length === 0) return files;
  const reason = `Of the archive, ${faults.length} files are not at hand, or not as the log recorded them.`;
  if (json) context.print(JSON.stringify({ valid: false, reason, archive: faults }));
  else for (const { file, fault } of faults) context.print(`[archive] ${file}: ${fault}`);
  throw new CommandFailed(reason);
}

/** The same of the bucket ARCHIVE, which no seal covers: of its list of files, once the log was read whole, and of its index of jobs. */
export async function findInBucket(
  files: readonly ArchivedFile[],
  recorded: RecordedFiles,
  archive: Archive,
): Promise<readonly LogFinding[]> {
  const unlisted = recorded
    .unlisted(files)
    .map(({ file, from, to }) =>
      toFinding(
        { from, to },
        `The bucket ARCHIVE does not name ${file}, of events ${from} to ${to}, which the log records: without it, histories and evidence are answered without what is in that file.`,
      ),
    );
  const unrecorded = recorded
    .unrecorded(files)
    .map(({ file, from, to }) =>
      toFinding(
        { from, to },
        `The log does not record ${file} as the bucket ARCHIVE names it, of events ${from} to ${to}: the bucket and the file were changed, or are of another log, or of this one at a later moment.`,
      ),
    );
  const findings = [...unlisted, ...unrecorded];
  let lacking = 0;
  for (let first = 0; first < files.length; first += filesAtATime) {
    lacking += await archive.unindexed(files.slice(first, first + filesAtATime));
  }
  const range = { from: files[0]?.from ?? 1, to: files.at(-1)?.to ?? 0 };
  const what = `The index of archived jobs (the bucket ARCHIVE) lacks ${lacking} of the jobs in the files: their histories, evidence and keys are answered without what is archived.`;
  return lacking === 0 ? findings : [...findings, toFinding(range, `${what} Delete the bucket. ${indexAdvice}`)];
}

/** Few enough for the memory, and many enough that an entry of the index is not read again for every file. */
const filesAtATime = 10;

const toFinding = ({ from, to }: Pick<ArchivedFile, "from" | "to">, message: string): LogFinding => ({
  kind: "archive",
  from,
  to,
  message,
  sequences: [],
});
