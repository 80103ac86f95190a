import { expect } from "chai";
import { v7 as uuid } from "uuid";
import { streamName } from "../../src/event-log/subjects.ts";
import { eventually } from "../support/eventually.ts";
import {
  caused,
  job,
  jobCompleted,
  jobCreated,
  jobStarted,
  recipientSent,
  recipientsClaimed,
  recipientsReleased,
} from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
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
    const sequence = await opened.log.append(job, [caused(uuid(), jobCreated())], 0);
    expect(await other.log.readHistory(job)).to.deep.equal([]);
    expect((await other.log.state()).lastSequence).to.equal(0);
    expect(await other.log.append(job, [caused(uuid(), jobCreated())], 0)).to.equal(1);
    expect(await opened.log.lastDecision(job)).to.equal(sequence);
    await other.close();
  });

  it("reads a fact once that was stored again, as its answer was lost in an outage longer than the window for duplicates", async () => {
    const { log, connection, close } = await openJetStreamLog(nats.config, `${nats.prefix}c`);
    const { streams } = await connection.nats.jetstreamManager({ checkAPI: false });
    const name = streamName(`${nats.prefix}c`, "JOBS");
    const { config } = await streams.info(name);
    await streams.update(name, { ...config, duplicate_window: 100_000_000 });
    const held = newJob();
    await log.append(held, [caused(uuid(), jobCreated())], 0);
    const released = caused("released", recipientsReleased());
    await log.record(held, [released]);
    await log.record(held, [caused(uuid(), recipientsClaimed({ worker: "worker-2" }))]);
    await eventually(async () => {
      await log.record(held, [released]);
      expect(await log.readHistory(held)).to.have.length(4);
    });
    const types = (await log.readRecipients(held)).map(({ event }) => event.type);
    expect(types).to.deep.equal(["RecipientsReleased", "RecipientsClaimed"]);
    await close();
  });

  it("reads a history of hundreds of decisions whole and in order", async () => {
    const { log } = opened;
    const long = newJob();
    const sequences: number[] = [];
    for (let decision = 0; decision < 200; decision += 1) {
      const event = decision === 0 ? jobCreated() : jobStarted({ attempt: decision });
      sequences.push(await log.append(long, [caused(uuid(), event)], sequences.at(-1) ?? 0));
    }
    const found = await log.readDecisions(long);
    expect(found.map(({ sequence }) => sequence)).to.deep.equal(sequences);
  });

  it("tells what became of the recipients where it tells that the job has ended, however long one answer takes", async () => {
    const { log, connection, close } = await openJetStreamLog(nats.config, nats.prefix);
    const ending = newJob();
    const created = await log.append(ending, [caused(uuid(), jobCreated())], 0);
    const { request } = connection;
    let isSlow = true;
    // What is decided is asked for, and the answer arrives when the job has come to its end.
    const slowRequest: typeof request = async (subject, data, headers) => {
      const answer = await request(subject, data, headers);
      if (isSlow && String(data).includes(`${ending.jobId}"`)) {
        isSlow = false;
        const started = await log.append(ending, [caused(uuid(), jobStarted())], created);
        await log.record(ending, [caused(uuid(), recipientSent())]);
        await log.append(ending, [caused(uuid(), jobCompleted())], started);
      }
      return answer;
    };
    Object.assign(connection, { request: slowRequest });
    const types = (await log.readHistory(ending)).map(({ event }) => event.type);
    await close();
    expect(types).to.deep.equal(["JobCreated", "JobStarted", "RecipientSent", "JobCompleted"]);
  });

  it("is the same one, with all its content, when it is opened again", async () => {
    const again = await openJetStreamLog(nats.config, nats.prefix);
    expect(await again.log.state()).to.deep.equal(await opened.log.state());
    expect(await again.log.readHistory(job)).to.deep.equal(await opened.log.readHistory(job));
    await again.close();
  });
});
