import { rm } from "node:fs/promises";
import { type Archive, createArchive } from "../../src/archive/archive.ts";
import type { ArchiveIndex } from "../../src/archive/archive-index.ts";
import {
  type ArchivePorts,
  type ArchiveReport,
  type ArchiveSettings,
  archiveLog,
} from "../../src/archive/archive-log.ts";
import { withArchive } from "../../src/archive/archived-log.ts";
import { withArchivedMessages } from "../../src/archive/archived-messages.ts";
import { createJetStreamArchiveIndex } from "../../src/archive/jetstream-archive-index.ts";
import { createJetStreamStoredLog } from "../../src/archive/jetstream-stored-log.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { jobOfSubject } from "../../src/event-log/subjects.ts";
import type { SealedLog } from "../../src/seals/sealed-log.ts";
import { openSealingSide, type SealingSide } from "../seals/sealing.ts";
import type { TestNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A log on streams of its own, and what archives it. */
export type ArchivingSide = SealingSide & {
  readonly directory: string;
  readonly index: ArchiveIndex;
  readonly ports: ArchivePorts;
  /** Seals all there is, and archives what may be. */
  archive(some?: Partial<ArchiveSettings>, changed?: Partial<ArchivePorts>): Promise<ArchiveReport>;
  /** The log as a process reads it that has the files in this directory, or has none. */
  reading(directory: string | null): Reading;
};

export type Reading = { readonly log: EventLog; readonly sealedLog: SealedLog; readonly archive: Archive };

export async function openArchivingSide(nats: TestNats): Promise<ArchivingSide> {
  const side = await openSealingSide(nats);
  const { connection, prefix, log, sealedLog } = side;
  const directory = await temporaryFolder();
  const index = createJetStreamArchiveIndex(connection, { prefix, replicas: 1 });
  const jobOf = jobOfSubject(prefix);
  const ports = { log, sealedLog, index, jobOf, storedLog: await createJetStreamStoredLog(connection, prefix) };
  return {
    ...side,
    directory,
    index,
    ports,
    archive: async (some = {}, changed = {}) => {
      await side.newSealer().sealNow();
      const settings = {
        directory,
        before: new Date(Date.now() + 60_000),
        areErased: false,
        entriesOfFile: 20,
        actor: "cli:test",
        now: () => new Date().toISOString(),
        onProgress: () => {},
        ...some,
      };
      return await archiveLog({ ...ports, ...changed }, settings);
    },
    reading: (directory) => {
      const archive = createArchive(index, directory, jobOf);
      return { archive, log: withArchive(log, archive, prefix), sealedLog: withArchivedMessages(sealedLog, archive) };
    },
    close: async () => {
      await side.close();
      await rm(directory, { recursive: true });
    },
  };
}
