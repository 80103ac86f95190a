import { expect } from "chai";
import { v7 as uuid } from "uuid";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { VersionConflict } from "../../src/event-log/log-failures.ts";
import { eventually } from "../support/eventually.ts";
import { caused, jobCancelled, jobCreated, jobPaused, recipientSent } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { readOn } from "../support/following.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

describe("the event log in JetStream behind a bad network", () => {
  let nats: TestNats;
  let door: TcpProxy;
  /** Behind the door that can be shut. */
  let behind: OpenedLog;
  /** Always connected, to see what is stored. */
  let beside: OpenedLog;
  let log: EventLog;
  let job: JobRef;
  let created: number;

  before(async () => {
    nats = await startNats();
    const [host, port] = (nats.config.servers[0] ?? "").split(":");
    door = await startTcpProxy({ host: host ?? "", port: Number(port) });
    beside = await openJetStreamLog(nats.config, nats.prefix);
    behind = await openJetStreamLog({ ...nats.config, servers: [`127.0.0.1:${door.port}`] }, nats.prefix);
    log = behind.log;
  });

  after(async () => {
    await behind.close();
    await beside.close();
    await door.stop();
    await nats.cleanUp();
  });

  beforeEach(async () => {
    job = { tenant: "default", jobId: uuid() };
    created = await log.append(job, [caused(uuid(), jobCreated())], 0);
  });

  afterEach(async () => {
    await door.restore();
    await eventually(() => log.lastDecision(job));
  });

  const breakAndMend = async (): Promise<void> => {
    await door.cut();
    await door.restore();
  };

  it("finds that a decision was stored whose answer was lost", async () => {
    door.loseAnswers();
    const appending = log.append(job, [caused(uuid(), jobPaused())], created);
    await eventually(async () => expect(await beside.log.readDecisions(job)).to.have.length(2));
    await breakAndMend();
    expect(await appending).to.equal(await beside.log.lastDecision(job));
    expect(await beside.log.readDecisions(job)).to.have.length(2);
  });

  it("finds it also after a later decision", async () => {
    door.loseAnswers();
    const appending = log.append(job, [caused(uuid(), jobPaused())], created);
    await eventually(async () => expect(await beside.log.readDecisions(job)).to.have.length(2));
    const paused = await beside.log.lastDecision(job);
    await beside.log.append(job, [caused(uuid(), jobCancelled())], paused);
    await breakAndMend();
    expect(await appending).to.equal(paused);
    expect(await beside.log.readDecisions(job)).to.have.length(3);
  });

  it("stores a decision that was lost on its way", async () => {
    door.stall();
    const appending = log.append(job, [caused(uuid(), jobPaused())], created);
    await breakAndMend();
    expect(await appending).to.be.greaterThan(created);
    expect(await beside.log.readDecisions(job)).to.have.length(2);
  });

  it("does not mistake the decision of another process for one that was lost on its way", async () => {
    door.stall();
    const appending = failureOf(log.append(job, [caused(uuid(), jobPaused())], created));
    const cancelled = await beside.log.append(job, [caused(uuid(), jobCancelled())], created);
    await breakAndMend();
    expect(await appending).to.be.instanceOf(VersionConflict);
    expect(await beside.log.lastDecision(job)).to.equal(cancelled);
  });

  it("stores a fact once whose answer was lost", async () => {
    door.loseAnswers();
    const recording = log.record(job, [caused(uuid(), recipientSent())]);
    await eventually(async () => expect(await beside.log.readRecipients(job)).to.have.length(1));
    await breakAndMend();
    const [stored] = await beside.log.readRecipients(job);
    expect(await recording).to.equal(stored?.sequence);
    expect(await beside.log.readRecipients(job)).to.have.length(1);
  });

  it("goes on handing out events in order after a break, each once", async () => {
    const store = (recipient: number) => beside.log.record(job, [caused(uuid(), recipientSent({ recipient }))]);
    const reading = readOn(log, created, (read) => read.length === 60, 7);
    for (let recipient = 0; recipient < 60; recipient += 1) {
      if (recipient % 20 === 10) await breakAndMend();
      await store(recipient);
    }
    expect(await reading).to.deep.equal(await beside.log.readRecipients(job));
  });

  it("hears of decisions again after a break", async () => {
    let heard = 0;
    const stop = log.onDecision(job, () => {
      heard += 1;
    });
    await breakAndMend();
    await eventually(() => log.lastDecision(job));
    await beside.log.append(job, [caused(uuid(), jobPaused())], created);
    await eventually(() => expect(heard).to.be.greaterThan(0));
    stop();
  });

  it("gives up within seconds when the network swallows everything, and reports it only to the caller", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => {
      unhandled.push(reason);
    };
    process.on("unhandledRejection", note);
    door.stall();
    const asked = performance.now();
    const calls = [
      log.append(job, [caused(uuid(), jobPaused())], created),
      log.record(job, [caused(uuid(), recipientSent())]),
      log.readHistory(job),
      log.lastDecision(job),
      log.state(),
    ];
    const failures = await Promise.all(calls.map(failureOf)).finally(() => process.off("unhandledRejection", note));
    for (const failure of failures) expect(failure).to.be.instanceOf(Unavailable);
    expect(performance.now() - asked).to.be.lessThan(15_000);
    expect(unhandled).to.deep.equal([]);
  });
});
