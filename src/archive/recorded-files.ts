import { decodeMessage } from "../event-log/decode-entry.ts";
import { logRef } from "../event-log/event-log.ts";
import { UndecodableEvent } from "../event-log/log-failures.ts";
import type { LogMessage } from "../event-log/log-message.ts";
import { subjectOf } from "../event-log/subjects.ts";
import type { ArchivedFile } from "./archive-format.ts";

export type RecordedFiles = {
  /** The same messages; notes on the way which files they record. */
  noting(batches: AsyncIterable<readonly LogMessage[]>): AsyncIterable<readonly LogMessage[]>;
  /** Of these files, those of which no message that was noted says the same. */
  unrecorded(files: readonly ArchivedFile[]): readonly ArchivedFile[];
  /** The files that were noted and stand before the last of these, and are not among them: files are listed in order. */
  unlisted(files: readonly ArchivedFile[]): readonly ArchivedFile[];
};

/**
 * What the log itself says of the files of its archive. The list that readers go by is in a bucket, and no seal covers it: with
 * another digest in it, a file whose index hides a job would pass as the one that was written.
 */
export function createRecordedFiles(prefix: string): RecordedFiles {
  const archiveSubject = subjectOf(prefix, logRef, "archive");
  const recorded = new Map<string, ArchivedFile>();
  const note = ({ subject, sequence, body }: LogMessage): void => {
    if (subject !== archiveSubject) return;
    try {
      for (const event of decodeMessage(prefix, subject, sequence, body)) {
        if ("event" in event && event.event.type === "LogArchived") {
          recorded.set(textOf(event.event.data), event.event.data);
        }
      }
    } catch (failure) {
      if (!(failure instanceof UndecodableEvent)) throw failure;
    }
  };
  return {
    noting: async function* (batches) {
      for await (const batch of batches) {
        for (const message of batch) note(message);
        yield batch;
      }
    },
    unrecorded: (files) => files.filter((file) => !recorded.has(textOf(file))),
    unlisted: (files) => {
      const listed = new Set(files.map(({ number }) => number));
      const last = files.at(-1)?.number ?? 0;
      return [...recorded.values()].filter(({ number }) => number < last && !listed.has(number));
    },
  };
}

const textOf = ({ number, from, to, count, root, file, bytes, sha256 }: ArchivedFile): string =>
  JSON.stringify([number, from, to, count, root, file, bytes, sha256]);
