import { expect } from "chai";
import { counts, now } from "../support/examples.ts";
import { decide, draftMailing, importInto, people, stateOf } from "../support/mailings.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { type ArchivingSide, openArchivingSide } from "./archiving.ts";

const later = "2026-12-24T00:00:00.000Z";

describe("A mailing that has ended", () => {
  let nats: TestNats;
  let side: ArchivingSide;

  before(async () => {
    nats = await startNats();
    side = await openArchivingSide(nats);
  });
  after(async () => {
    await side.close();
    await nats.cleanUp();
  });

  it("is not archived before RETENTION_DAYS has erased its letter, and is forgotten also if it was", async () => {
    const stored = { log: side.log, contentStore: createMemoryContentStore() };
    const mailing = await draftMailing(stored);
    await importInto(stored, mailing, people(1));
    await decide(stored, mailing, { type: "StartMailing", at: now, scheduledAt: null });
    const parts = [{ part: 0, result: "completed" as const, counts: counts({ total: 1, sent: 1 }) }];
    await decide(stored, mailing, { type: "EndParts", at: now, parts, retries: 0 });
    const ended = await stateOf(stored, mailing);

    const { heldBack } = await side.archive({ areErased: true });
    expect(heldBack).to.have.lengthOf(1);
    expect(heldBack[0]).to.deep.include({
      job: mailing,
      sequence: 1,
      why: "RETENTION_DAYS has not erased its content yet",
    });

    expect((await side.archive()).heldBack).to.deep.equal([]);
    expect(await side.log.readMailing(mailing)).to.deep.equal([]);
    const reading = { ...stored, log: side.reading(side.directory).log };
    expect(await stateOf(reading, mailing)).to.deep.equal(ended);
    const retire = { type: "RetireMailing", at: later, restingBefore: later, reason: "retention" } as const;
    await decide(reading, mailing, retire);
    await decide(reading, mailing, retire);
    expect(await stateOf(reading, mailing)).to.deep.equal({ ...ended, isErased: true });
    expect((await side.log.readMailing(mailing)).map(({ event }) => event.type)).to.deep.equal([
      "MailingContentErased",
    ]);
  });

  it("and is run again holds back its first event, and nothing before that", async () => {
    const stored = { log: side.log, contentStore: createMemoryContentStore() };
    for (let jobs = 0; jobs < 4; jobs += 1) await side.jobHappens();
    const { lastSequence } = await side.log.state();
    const mailing = await draftMailing(stored);
    await importInto(stored, mailing, people(1));
    await decide(stored, mailing, { type: "StartMailing", at: now, scheduledAt: null });
    const parts = [{ part: 0, result: "failed" as const, counts: counts({ total: 1, failed: 1 }) }];
    await decide(stored, mailing, { type: "EndParts", at: now, parts, retries: 0 });
    await decide(stored, mailing, { type: "RetryMailing", at: now, scope: "failed", reason: null });
    const { heldBack, cutTo } = await side.archive();
    expect(heldBack).to.have.lengthOf(1);
    expect(heldBack[0]).to.deep.include({ job: mailing, sequence: lastSequence + 1, why: "it has not ended" });
    expect(cutTo).to.be.within(lastSequence - 15, lastSequence);
  });
});
