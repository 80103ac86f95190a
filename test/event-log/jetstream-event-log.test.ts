import { expect } from "chai";
import { v7 as uuid } from "uuid";
import { caused, job, jobCreated } from "../support/examples.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { eventLogContract } from "./event-log-contract.ts";

describe("the event log in JetStream", () => {
  let nats: TestNats;
  let opened: OpenedLog;

  before(async () => {
    nats = await startNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
  });

  after(async () => {
    await opened.close();
    await nats.cleanUp();
  });

  eventLogContract(() => opened.log);

  it("is another one for another prefix on the same server", async () => {
    const other = await openJetStreamLog(nats.config, `${nats.prefix}b`);
    const sequence = await opened.log.append(job, caused(uuid(), jobCreated()), 0);
    expect(await other.log.readHistory(job)).to.deep.equal([]);
    expect((await other.log.state()).lastSequence).to.equal(0);
    expect(await other.log.append(job, caused(uuid(), jobCreated()), 0)).to.equal(1);
    expect(await opened.log.lastDecision(job)).to.equal(sequence);
    await other.close();
  });

  it("is the same one, with all that it held, for who opens it again", async () => {
    const again = await openJetStreamLog(nats.config, nats.prefix);
    expect(await again.log.state()).to.deep.equal(await opened.log.state());
    expect(await again.log.readHistory(job)).to.deep.equal(await opened.log.readHistory(job));
    await again.close();
  });
});
