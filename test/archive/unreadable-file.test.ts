import { hash } from "node:crypto";
import { once } from "node:events";
import { rm, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { createArchive } from "../../src/archive/archive.ts";
import type { ArchiveIndex } from "../../src/archive/archive-index.ts";
import { Archived } from "../../src/event-log/log-failures.ts";
import { failureOf } from "../support/failure-of.ts";
import { newJob } from "../support/happen.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("A file of the archive that this process may not open", () => {
  it("is named as one that is not at hand, and is looked at again", async () => {
    const directory = await temporaryFolder();
    const file = { number: 1, from: 1, to: 1, count: 1, root: "", file: "log", bytes: 0, sha256: hash("sha256", "") };
    const index: ArchiveIndex = {
      files: async () => [file],
      numbersOf: async () => [1],
      lacking: async () => 0,
      addJobs: async () => {},
      addFiles: async () => {},
      incomplete: async () => {},
      complete: async () => {},
      fault: async () => null,
    };
    const archive = createArchive(index, directory, () => null);
    const path = join(directory, file.file);
    // No rights keep root from a file; but a socket is opened by nobody.
    const socket = createServer().listen(path);
    await once(socket, "listening");
    await utimes(path, 1, 1);
    try {
      expect(await archive.faultOf(file)).to.match(/^it cannot be read: ENXIO/);
      expect(await failureOf(archive.entriesOf(newJob()))).to.be.instanceOf(Archived);
    } finally {
      socket.close();
      await once(socket, "close");
    }
    await rm(path, { force: true });
    await writeFile(path, "");
    await utimes(path, 1, 1);
    expect(await archive.faultOf(file)).to.equal(null);
  });
});
