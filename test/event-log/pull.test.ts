import { expect } from "chai";
import { createReader, nextMessages } from "../../src/nats/consumers.ts";
import { openPull, type Pull } from "../../src/nats/pull.ts";
import { jobCreated } from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startNats, type TestNats } from "../support/services.ts";

/** Long, so that whether it rested can be told on a busy machine as well. */
const restMs = 2000;

describe("Pulling messages of a steady flow", () => {
  let nats: TestNats;
  let opened: OpenedLog;
  let pull: Pull;

  beforeEach(async () => {
    nats = await startNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
    const stream = `${nats.prefix}_JOBS`;
    const { name } = await createReader(opened.connection, stream, 0);
    pull = openPull(opened.connection, nextMessages(stream, name), { batch: 8, restMs: () => restMs });
  });
  afterEach(async () => {
    pull.close();
    await opened.close();
    await nats.cleanUp();
  });

  const append = async (count: number): Promise<void> => {
    for (let job = 0; job < count; job += 1) await happen(opened.log, newJob(), [jobCreated()]);
  };
  const take = async (count: number): Promise<number> => {
    let taken = 0;
    while (taken < count) taken += (await pull.next()).length;
    return taken;
  };

  it("brings the first one at once, and after a rest those that came meanwhile", async () => {
    const coming = pull.next();
    await append(1);
    expect(await coming).to.have.lengthOf(1);
    const firstAt = performance.now();
    await append(6);
    expect(await take(6)).to.equal(6);
    expect(performance.now() - firstAt).to.be.within(restMs - 50, 2 * restMs);
  });

  it("does not rest while more of them wait than it asks for at a time", async () => {
    await append(50);
    const begunAt = performance.now();
    expect(await take(50)).to.equal(50);
    expect(performance.now() - begunAt).to.be.lessThan(restMs);
  });
});
