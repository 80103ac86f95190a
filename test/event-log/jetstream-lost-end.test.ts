import { cp, rm } from "node:fs/promises";
import { expect } from "chai";
import { v7 as uuid } from "uuid";
import type { EventLog, LogEvent } from "../../src/event-log/event-log.ts";
import { createListening } from "../../src/event-log/following/listener.ts";
import { settledState } from "../../src/event-log/following/settled-log.ts";
import { LogLostItsEnd } from "../../src/event-log/log-failures.ts";
import { streamName } from "../../src/event-log/subjects.ts";
import type { JetStreamConnection } from "../../src/nats/connection.ts";
import { eventually } from "../support/eventually.ts";
import { caused, jobCreated } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { followFrom } from "../support/following.ts";
import { openJetStreamLog } from "../support/jetstream-log.ts";
import { createMemoryCheckpointStore } from "../support/memory/memory-checkpoint-store.ts";
import { findNatsSource } from "../support/server-sources.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("A log on a single server that lost what it had not synced", function () {
  this.timeout(60_000);
  let nats: OwnNats;
  let folder: string;
  let copy: string;
  let connection: JetStreamConnection;
  let cleanUps: (() => Promise<void>)[];

  before(async function () {
    // How a foreign server stores its files is unknown here.
    if ((await findNatsSource()).kind !== "binary") return this.skip();
  });
  beforeEach(async () => {
    [folder, copy] = await Promise.all([temporaryFolder(), temporaryFolder()]);
    nats = await startOwnNats(folder);
    cleanUps = [nats.cleanUp, () => rm(copy, { recursive: true, force: true })];
  });
  afterEach(async () => {
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
  });

  const openLog = async (): Promise<EventLog> => {
    const opened = await openJetStreamLog(nats.config, nats.prefix);
    cleanUps.push(opened.close);
    connection = opened.connection;
    return opened.log;
  };
  const create = async (log: EventLog, count: number): Promise<string[]> => {
    const jobs: string[] = [];
    for (let job = 0; job < count; job += 1) {
      const jobId = uuid();
      const entry = caused(uuid(), jobCreated());
      await eventually(() => log.append({ tenant: "default", jobId }, [entry], 0));
      jobs.push(jobId);
    }
    return jobs;
  };
  const keepWhatIsSynced = async (): Promise<void> => {
    await nats.stop();
    await cp(folder, copy, { recursive: true });
    await nats.start();
  };
  const losePower = async (): Promise<void> => {
    await nats.kill();
    await rm(folder, { recursive: true, force: true });
    await cp(copy, folder, { recursive: true });
    await nats.start();
  };

  /** A reader of the log has a consumer of it. */
  const isReadOn = async (): Promise<void> => {
    await eventually(async () => {
      const manager = await connection.nats.jetstreamManager({ checkAPI: false, timeout: 1000 });
      expect((await manager.streams.info(streamName(nats.prefix, "JOBS"))).state.consumer_count).to.equal(1);
    });
  };
  const whens: Readonly<Record<string, () => Promise<void>>> = {
    "as soon as the server is back": async () => {},
    "once the reader asks for what comes next": isReadOn,
  };

  for (const [when, wait] of Object.entries(whens)) {
    it(`tells a reader that is past its new end, where other entries are stored ${when}`, async () => {
      const log = await openLog();
      await create(log, 3);
      await keepWhatIsSynced();
      await create(log, 3);
      const read: LogEvent[] = [];
      const { batches, stop } = followFrom(log, 0);
      cleanUps.push(async () => stop());
      const readOn = async (): Promise<void> => {
        for await (const batch of batches) read.push(...batch);
      };
      const reading = failureOf(readOn());
      await eventually(() => expect(read).to.have.lengthOf(6));
      await losePower();
      await wait();
      await create(log, 5);
      const failure = await reading;
      expect(failure).to.be.instanceOf(LogLostItsEnd).and.to.include({ keptUpTo: 3 });
      expect(read).to.have.lengthOf(6);
    });
  }

  it("is acted on again from where it was cut off", async () => {
    const log = await openLog();
    const acted: string[] = [];
    const failures: unknown[] = [];
    const ports = {
      log,
      checkpoints: createMemoryCheckpointStore(),
      report: (failure: unknown) => void failures.push(failure),
    };
    const listening = createListening(ports, {
      name: "test",
      beginAfter: () => 0,
      act: async ({ jobId }) => void acted.push(jobId),
      atOnce: 10,
      tryAgainMs: 10,
    });
    listening.start();
    cleanUps.push(() => listening.stop(0));
    const kept = await create(log, 3);
    await keepWhatIsSynced();
    const lost = await create(log, 3);
    await eventually(() => expect(acted).to.deep.equal([...kept, ...lost]));
    await losePower();
    const others = await create(log, 5);
    await eventually(() => expect(acted).to.deep.equal([...kept, ...lost, ...others]), 15_000);
    expect(failures.some((failure) => failure instanceof LogLostItsEnd)).to.equal(true);
  });

  it("is no log whose leader is behind: its end is believed at once", async () => {
    const log = await openLog();
    await create(log, 2);
    const { createdAt } = await log.state();
    const signal = AbortSignal.timeout(20_000);
    const state = await settledState(log, { sequence: 3, logCreatedAt: createdAt }, 30_000, signal);
    expect(state).to.deep.equal({ createdAt, lastSequence: 2, mayLag: false });
    expect(signal.aborted).to.equal(false);
  });
});
