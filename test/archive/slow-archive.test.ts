import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { ArchiveRefused } from "../../src/archive/find-boundary.ts";
import type { StoredLog } from "../../src/archive/stored-log.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { trustNothing } from "../../src/seals/check.ts";
import { verifyLog } from "../../src/seals/verify-log.ts";
import { failureOf } from "../support/failure-of.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { type ArchivingSide, openArchivingSide } from "./archiving.ts";

describe("Archiving the log while another process does all of it", () => {
  let nats: TestNats;
  let side: ArchivingSide;
  let jobs: JobRef[];

  before(async () => {
    nats = await startNats();
  });
  after(() => nats.cleanUp());
  beforeEach(async () => {
    side = await openArchivingSide(nats);
    jobs = [];
    for (let job = 0; job < 10; job += 1) jobs.push(await side.jobHappens(2));
    await side.newSealer().sealNow();
  });
  afterEach(() => side.close());

  const filesInDirectory = async (): Promise<ReadonlyMap<string, string>> => {
    const files = new Map<string, string>();
    for (const name of await readdir(side.directory))
      files.set(name, await readFile(join(side.directory, name), "hex"));
    return files;
  };
  /** What a process meets that stands still at a point, while another one archives and cuts. */
  const overtaken = (at: (storedLog: StoredLog, other: () => Promise<void>) => Partial<StoredLog>) => {
    const { storedLog } = side.ports;
    let left: ReadonlyMap<string, string> = new Map();
    let isOver = false;
    const other = async (): Promise<void> => {
      if (isOver) return;
      isOver = true;
      expect((await side.archive()).cutTo).to.be.greaterThan(50);
      left = await filesInDirectory();
    };
    return { storedLog: { ...storedLog, ...at(storedLog, other) }, left: () => left };
  };

  for (const [what, at] of [
    [
      "before it looks what holds the log back",
      (storedLog, other) => ({
        readers: async () => {
          const readers = await storedLog.readers();
          await other();
          return readers;
        },
      }),
    ],
    [
      "before it reads what it writes",
      (storedLog, other) => ({
        entries: async function* (after, upTo) {
          await other();
          yield* storedLog.entries(after, upTo);
        },
      }),
    ],
    [
      "in the middle of a file",
      (storedLog, other) => ({
        entries: async function* (after, upTo) {
          for await (const batch of storedLog.entries(after, upTo)) {
            yield batch.slice(0, 7);
            await other();
            yield batch.slice(7);
          }
        },
      }),
    ],
    [
      "before it names its file",
      (storedLog, other) => {
        let calls = 0;
        return {
          recorded: async () => {
            const recorded = await storedLog.recorded();
            calls += 1;
            if (calls === 2) await other();
            return recorded;
          },
        };
      },
    ],
  ] as const satisfies readonly (readonly [string, Parameters<typeof overtaken>[0]])[]) {
    it(`is refused to a process that stood still ${what}, and leaves every file as it was`, async () => {
      const [job] = jobs as [JobRef];
      const whole = await side.log.readHistory(job);
      const { storedLog, left } = overtaken(at);
      const failure = await failureOf(side.archive({}, { storedLog }));
      expect(failure).to.be.instanceOf(ArchiveRefused);
      expect(failure.message).to.include("Another process");
      expect(left()).not.to.have.property("size", 0);
      expect(await filesInDirectory()).to.deep.equal(left());
      const { log, sealedLog } = side.reading(side.directory);
      expect(await log.readHistory(job)).to.deep.equal(whole);
      expect((await verifyLog(sealedLog, trustNothing)).findings).to.deep.equal([]);
    });
  }

  it("replaces no file that it finds under the name of its own", async () => {
    await failureOf(side.archive({}, { log: { ...side.log, append: () => Promise.reject(new Error("died")) } }));
    const [name] = (await readdir(side.directory)) as [string];
    const path = join(side.directory, name);
    await writeFile(path, "of another process");
    const failure = await failureOf(side.archive());
    expect(failure).to.be.instanceOf(ArchiveRefused);
    expect(failure.message).to.include(path);
    expect(await readFile(path, "utf8")).to.equal("of another process");
    expect(await side.ports.storedLog.recorded()).to.deep.equal([]);
  });

  it("removes what killed processes left half written, and nothing else", async () => {
    await writeFile(join(side.directory, "log-000000000001-000000000010.waybill.a.part"), "half");
    await writeFile(join(side.directory, "notes.part"), "of the operator");
    const { files } = await side.archive();
    const names = [...files.map(({ file }) => file), "notes.part"];
    expect(await readdir(side.directory)).to.have.members(names);
  });
});
