import { expect } from "chai";
import { v7 as uuid } from "uuid";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { eventually } from "../support/eventually.ts";
import { caused, jobCreated, jobPaused, recipientSent } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { followFrom, readOn } from "../support/following.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";
import { unhinderedMs } from "../support/unhindered.ts";

describe("the event log in JetStream while NATS is away", () => {
  let nats: OwnNats;
  let opened: OpenedLog;
  let log: EventLog;
  let job: JobRef;
  let created: number;

  before(async () => {
    nats = await startOwnNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
    log = opened.log;
  });

  after(async () => {
    await opened.close();
    await nats.cleanUp();
  });

  beforeEach(async () => {
    await nats.start();
    job = { tenant: "default", jobId: uuid() };
    created = await eventually(() => log.append(job, [caused(uuid(), jobCreated())], 0));
  });

  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    append: () => log.append(job, [caused(uuid(), jobPaused())], created),
    record: () => log.record(job, [caused(uuid(), recipientSent())]),
    readDecisions: () => log.readDecisions(job),
    readRecipients: () => log.readRecipients(job),
    readHistory: () => log.readHistory(job),
    lastDecision: () => log.lastDecision(job),
    state: () => log.state(),
  };

  for (const [name, call] of Object.entries(calls)) {
    it(`says so within two seconds, in the very moment and later: ${name}`, async () => {
      await nats.stop();
      for (let time = 0; time < 2; time += 1) {
        const ms = await unhinderedMs(async () => expect(await failureOf(call())).to.be.instanceOf(Unavailable));
        expect(ms).to.be.lessThan(2000);
      }
    });
  }

  it("says so when it is killed in the middle of many facts, and loses none that it took", async () => {
    const facts = Array.from({ length: 2000 }, (_, recipient) => caused(uuid(), recipientSent({ recipient })));
    const recording = facts.map((fact) => log.record(job, [fact]));
    await Promise.race(recording);
    await nats.kill();
    const results = await Promise.allSettled(recording);
    const taken = facts.filter((_, index) => results[index]?.status === "fulfilled").map(({ id }) => id);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).to.be.instanceOf(Unavailable);
    }
    await nats.start();
    const stored = await eventually(() => log.readRecipients(job));
    const ids = stored.map(({ id }) => id);
    expect(ids).to.include.members(taken);
    expect(new Set(ids)).to.have.length(ids.length);
  });

  it("takes facts again once it is back, those that were told before only once", async () => {
    const fact = caused(uuid(), recipientSent());
    const sequence = await log.record(job, [fact]);
    await nats.kill();
    await nats.start();
    expect(await eventually(() => log.record(job, [fact]))).to.equal(sequence);
    expect(await log.readRecipients(job)).to.have.length(1);
    expect((await log.readDecisions(job)).map((decision) => decision.sequence)).to.deep.equal([created]);
  });

  it("delivers events stored after the outage to followers from before it, each event once", async () => {
    const reading = readOn(log, created, (read) => read.length === 40, 9);
    for (let recipient = 0; recipient < 40; recipient += 1) {
      if (recipient === 10) {
        await nats.stop();
        await nats.start();
      }
      if (recipient === 25) {
        await nats.kill();
        await nats.start();
      }
      const fact = caused(uuid(), recipientSent({ recipient }));
      await eventually(() => log.record(job, [fact]));
    }
    expect(await reading).to.deep.equal(await log.readRecipients(job));
  });

  it("lets go of a follower that is told to stop meanwhile", async () => {
    const following = followFrom(log, created);
    const next = following.batches[Symbol.asyncIterator]().next();
    await nats.stop();
    following.stop();
    expect(await next).to.deep.include({ done: true });
  });

  it("is the same log as before once it is back", async () => {
    const before = await log.state();
    await nats.kill();
    await nats.start();
    expect(await eventually(() => log.state())).to.deep.equal(before);
  });
});
