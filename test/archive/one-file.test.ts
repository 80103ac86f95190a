import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { trustNothing } from "../../src/seals/check.ts";
import { makeEvidence } from "../../src/seals/evidence.ts";
import { verifyEvidence } from "../../src/seals/verify-evidence.ts";
import { now } from "../support/examples.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { type ArchivingSide, openArchivingSide } from "./archiving.ts";

describe("An archive of which one file is at hand, and the later ones are not", () => {
  let nats: TestNats;
  let side: ArchivingSide;
  let job: JobRef;

  before(async () => {
    nats = await startNats();
    side = await openArchivingSide(nats);
    job = await side.jobHappens();
    for (let jobs = 0; jobs < 9; jobs += 1) await side.jobHappens();
    const { files } = await side.archive();
    expect(files).to.have.length.above(1);
    for (const { file } of files.slice(1)) await rm(join(side.directory, file));
  });
  after(async () => {
    await side.close();
    await nats.cleanUp();
  });

  it("is enough for the history of a job in it, and for its evidence", async () => {
    const { log, sealedLog } = side.reading(side.directory);
    expect(await log.readHistory(job)).to.have.lengthOf(5);
    const sources = { log, sealedLog, contentStore: createMemoryContentStore(), key: side.key, now: () => now };
    const bundle = (await makeEvidence(sources, job)) ?? "";
    const { checks, events } = verifyEvidence(Buffer.from(bundle), trustNothing);
    expect(events).to.have.lengthOf(5);
    // There is no content here.
    expect(checks.filter(({ ok }) => !ok)).to.have.lengthOf(1);
    expect(checks.map(({ detail }) => detail).join()).to.include("5 of 5 entries are sealed.");
  });
});
