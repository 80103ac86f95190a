import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { v7 as uuid } from "uuid";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { createJetStreamEventLog } from "../../src/event-log/jetstream-event-log.ts";
import { createJetStreamLogRoom } from "../../src/event-log/jetstream-log-room.ts";
import { ensureStreams } from "../../src/event-log/jetstream-streams.ts";
import { connectJetStream, type JetStreamConnection } from "../../src/nats/connection.ts";
import { type ConfiguredNats, startConfiguredNats } from "../support/configured-nats.ts";
import { eventually } from "../support/eventually.ts";
import { caused, job, jobCompleted, jobCreated, recipientSent } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { newJob } from "../support/happen.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const maxBytes = 100_000;

describe("the room for jobs in a log with a size limit", () => {
  let nats: OwnNats;
  let connection: JetStreamConnection;
  let prefix: string;
  let logs = 0;

  before(async () => {
    nats = await startOwnNats();
    connection = await connectJetStream(nats.config, "test", () => {});
  });

  after(async () => {
    await connection.close();
    await nats.cleanUp();
  });

  beforeEach(async () => {
    logs += 1;
    prefix = `${nats.prefix}x${logs}`;
    await ensureStreams(connection, { prefix, replicas: 1, maxBytes });
  });

  const streamInfo = async () => (await connection.nats.jetstreamManager()).streams.info(`${prefix}_JOBS`);
  const setLimit = async (limit: number): Promise<void> => {
    const manager = await connection.nats.jetstreamManager();
    const { config } = await manager.streams.info(`${prefix}_JOBS`);
    await manager.streams.update(config.name, { ...config, max_bytes: limit });
  };

  it("is left until 80 % of it are taken, as this process has written them", async () => {
    const room = await createJetStreamLogRoom(connection, prefix);
    const log = await createJetStreamEventLog(connection, prefix, room.stored);
    expect(await room.isLeftForJobs()).to.equal(true);
    let shareBefore = 0;
    while (await room.isLeftForJobs()) {
      shareBefore = (await streamInfo()).state.bytes / maxBytes;
      await log.record(job, [caused(uuid(), recipientSent())]);
    }
    expect(shareBefore, "share of the limit that was taken").to.be.within(0.7, 0.8);
  });

  it("is reserved for the remaining events of accepted jobs, whichever process accepted them, and free again when they have ended", async () => {
    const room = await createJetStreamLogRoom(connection, prefix);
    expect(await room.isLeftForJobs()).to.equal(true);
    const othersLog = await createJetStreamEventLog(connection, prefix);
    const jobs: { readonly ref: JobRef; readonly sequence: number }[] = [];
    for (; await room.isLeftForJobs(); await connection.nats.flush()) {
      const ref = newJob();
      jobs.push({ ref, sequence: await othersLog.append(ref, [caused(uuid(), jobCreated())], 0) });
    }
    expect((await streamInfo()).state.bytes, "what is taken").to.be.below(maxBytes / 2);
    for (const { ref, sequence } of jobs) await othersLog.append(ref, [caused(uuid(), jobCompleted())], sequence);
    await eventually(async () => expect(await room.isLeftForJobs()).to.equal(true));
  });

  it("is not promised to several requests at the same time", async () => {
    const room = await createJetStreamLogRoom(connection, prefix);
    const answers = await Promise.all(Array.from({ length: 10 }, () => room.isLeftForJobs(20)));
    expect(answers.filter((isLeft) => isLeft)).to.have.lengthOf(3);
  });

  it("is gone a second after others have written as much, and back once the limit was raised", async () => {
    const room = await createJetStreamLogRoom(connection, prefix);
    expect(await room.isLeftForJobs()).to.equal(true);
    const othersLog = await createJetStreamEventLog(connection, prefix);
    while ((await streamInfo()).state.bytes < maxBytes * 0.8)
      await othersLog.record(job, [caused(uuid(), recipientSent())]);
    await eventually(async () => expect(await room.isLeftForJobs()).to.equal(false));
    await ensureStreams(connection, { prefix, replicas: 1, maxBytes: maxBytes * 2 });
    await eventually(async () => expect(await room.isLeftForJobs()).to.equal(true));
  });

  it("is known by the limit that an operator has set; a start without a limit leaves it alone", async () => {
    await setLimit(5000);
    await ensureStreams(connection, { prefix, replicas: 1, maxBytes: null });
    expect((await streamInfo()).config.max_bytes).to.equal(5000);
    const log = await createJetStreamEventLog(connection, prefix);
    while ((await streamInfo()).state.bytes < 4000) await log.record(job, [caused(uuid(), recipientSent())]);
    expect(await (await createJetStreamLogRoom(connection, prefix)).isLeftForJobs()).to.equal(false);
  });

  it("has no end without a limit", async () => {
    await setLimit(-1);
    expect(await (await createJetStreamLogRoom(connection, prefix)).isLeftForJobs()).to.equal(true);
  });

  it("is not made up when the log cannot be asked", async () => {
    const room = await createJetStreamLogRoom(connection, prefix);
    await nats.stop();
    expect(await failureOf(room.isLeftForJobs())).to.be.instanceOf(Unavailable);
    await nats.start();
    await eventually(async () => expect(await room.isLeftForJobs()).to.equal(true));
  });
});

describe("the room for jobs in an account that may store so much", () => {
  let nats: ConfiguredNats;
  let connection: JetStreamConnection;

  before(async () => {
    const folder = await temporaryFolder();
    const account = { jetstream: { max_file: 2_000_000 }, users: [{ user: "w", password: "w" }] };
    await writeFile(join(folder, "nats.conf"), JSON.stringify({ accounts: { W: account } }));
    nats = await startConfiguredNats(join(folder, "nats.conf"));
    const settings = { servers: [nats.url], user: "w", password: "w", credsFile: null, caFile: null };
    connection = await connectJetStream(settings, "test", () => {});
  });
  after(async () => {
    await connection.close();
    await nats.cleanUp();
  });

  it("is gone once 80 % of that are taken, by whatever, and back once there is room", async () => {
    await ensureStreams(connection, { prefix: "limited", replicas: 1, maxBytes: null });
    const room = await createJetStreamLogRoom(connection, "limited");
    expect(await room.isLeftForJobs()).to.equal(true);
    const { streams } = await connection.nats.jetstreamManager();
    await streams.add({ name: "OTHER", subjects: ["other"] });
    for (let sent = 0; sent < 4; sent += 1) await connection.nats.jetstream().publish("other", new Uint8Array(420_000));
    await eventually(async () => expect(await room.isLeftForJobs()).to.equal(false));
    await streams.delete("OTHER");
    await eventually(async () => expect(await room.isLeftForJobs()).to.equal(true));
  });
});
