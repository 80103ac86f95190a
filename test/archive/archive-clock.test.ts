import { expect } from "chai";
import { trustNothing } from "../../src/seals/check.ts";
import { verifyLog } from "../../src/seals/verify-log.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { type ArchivingSide, openArchivingSide } from "./archiving.ts";

describe("Archiving a log with a seal that was made while the clock was ahead", () => {
  let nats: TestNats;
  let side: ArchivingSide;
  const ahead = "2031-01-01T00:00:00.000Z";
  const seal = async (changed = {}): Promise<void> => {
    await side.jobHappens(2);
    await side.newSealer({ everyEvents: 1000, ...changed }).sealNow();
  };

  before(async () => {
    nats = await startNats();
  });
  after(() => nats.cleanUp());
  beforeEach(async () => {
    side = await openArchivingSide(nats);
    await seal();
    await seal({ now: () => ahead });
  });
  afterEach(() => side.close());

  it("takes it with the seals after it, as old as these", async () => {
    await seal();
    const { lastSequence } = await side.log.state();
    expect((await side.archive()).cutTo).to.be.greaterThan(lastSequence - 2);
    expect((await verifyLog(side.reading(side.directory).sealedLog, trustNothing)).findings).to.deep.equal([]);
  });

  it("leaves it where it is the last one", async () => {
    const { lastSequence } = await side.log.state();
    const { cutTo } = await side.archive({ entriesOfFile: 1 });
    expect(cutTo).to.be.within(1, lastSequence - 2);
  });
});
