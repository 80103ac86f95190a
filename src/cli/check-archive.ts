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
  const reason = `Of the archive, ${faults.length} files are not as the log recorded them.`;
  if (json) context.print(JSON.stringify({ valid: false, reason, archive: faults }));
  else for (const { file, fault } of faults) context.print(`[archive] ${file}: ${fault}`);
  throw new CommandFailed(reason);
}

/** The same of the list of files, which no seal covers, once the log was read whole. */
export const findUnrecorded = (files: readonly ArchivedFile[], recorded: RecordedFiles): readonly LogFinding[] =>
  recorded.unrecorded(files).map(({ file, from, to }) => ({
    kind: "archive",
    from,
    to,
    message: `The log does not record ${file} as the bucket ARCHIVE names it, of events ${from} to ${to}: the bucket and the file were changed, or are of another log.`,
    sequences: [],
  }));
