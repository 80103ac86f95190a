import { setTimeout as pause } from "node:timers/promises";
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
  let subject: string;
  let pull: Pull;
  let begin: (batch: number) => void;

  beforeEach(async () => {
    nats = await startNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
    const stream = `${nats.prefix}_JOBS`;
    const { name } = await createReader(opened.connection, stream, 0);
    subject = nextMessages(stream, name);
    begin = (batch) => {
      pull = openPull(opened.connection, subject, { batch, restMs: () => restMs });
    };
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
    begin(8);
    const coming = pull.next();
    await append(1);
    expect(await coming).to.have.lengthOf(1);
    const firstAt = performance.now();
    await append(6);
    expect(await take(6)).to.equal(6);
    expect(performance.now() - firstAt).to.be.within(restMs - 50, 2 * restMs);
  });

  it("asks for all together that came during a rest, and gets the first one after a lull at once", async () => {
    begin(100);
    await append(12);
    expect(await take(12)).to.equal(12);
    const together = 60;
    await append(together);
    let requests = 0;
    opened.connection.nats.subscribe(subject, {
      callback: () => {
        requests += 1;
      },
    });
    expect(await take(together)).to.equal(together);
    await opened.connection.nats.flush();
    // One is enough on an idle machine; a server that is slow to answer is asked again.
    expect(requests).to.be.lessThan(together / 6);
    const coming = pull.next();
    await pause(restMs + 500);
    const lateAt = performance.now();
    await append(1);
    expect(await coming).to.have.lengthOf(1);
    expect(performance.now() - lateAt).to.be.lessThan(restMs);
  });

  it("does not rest while more of them wait than it asks for at a time", async () => {
    begin(8);
    await append(50);
    const begunAt = performance.now();
    expect(await take(50)).to.equal(50);
    expect(performance.now() - begunAt).to.be.lessThan(restMs);
  });
});
