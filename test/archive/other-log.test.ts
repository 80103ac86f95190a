import { expect } from "chai";
import { ArchiveRefused } from "../../src/archive/find-boundary.ts";
import { failureOf } from "../support/failure-of.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { type ArchivingSide, openArchivingSide } from "./archiving.ts";

describe("Two logs that are archived", () => {
  let nats: TestNats;
  let side: ArchivingSide;
  let other: ArchivingSide;

  beforeEach(async () => {
    nats = await startNats();
    side = await openArchivingSide(nats);
    other = await openArchivingSide(nats);
    for (const each of [side, other]) for (let jobs = 0; jobs < 10; jobs += 1) await each.jobHappens();
  });
  afterEach(async () => {
    await side.close();
    await other.close();
    await nats.cleanUp();
  });

  it("of which one has the index of the other: nothing is cut off, as what the log holds there is in no file", async () => {
    const { files } = await other.archive();
    await side.index.addFiles(files);
    const failure = await failureOf(side.archive({ directory: other.directory, before: new Date(0) }));
    expect(failure).to.be.instanceOf(ArchiveRefused);
    expect(String(failure)).to.include(files[0]?.file);
    expect(await side.ports.storedLog.firstSequence()).to.equal(1);
  });

  it("into one directory, where a file of both would have one name: the second is refused, and told to take another directory", async () => {
    const { files } = await side.archive();
    const failure = await failureOf(other.archive({ directory: side.directory }));
    expect(failure).to.be.instanceOf(ArchiveRefused);
    expect(String(failure)).to.include(files[0]?.file).and.include("give each a directory of its own");
    for (const file of files) expect(await side.reading(side.directory).archive.faultOf(file)).to.equal(null);
  });
});
