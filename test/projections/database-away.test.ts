import { expect } from "chai";
import { allProjectors } from "../../projections/all-projectors.ts";
import { createContentReader } from "../../projections/following/content-reader.ts";
import { createReadPositions } from "../../projections/following/read-position.ts";
import { createProjectorRunner } from "../../projections/following/run-projector.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { createJobQueries } from "../../projections/jobs/queries.ts";
import { migrate } from "../../projections/migrate.ts";
import type { ContentStore } from "../../src/content/content-store.ts";
import { createDatabase } from "../../src/database/database.ts";
import { isDatabaseTrouble } from "../../src/database/database-failure.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { eventually } from "../support/eventually.ts";
import { jobCreated } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { happen, newJob } from "../support/happen.ts";
import { createMemoryAnnouncements } from "../support/memory/memory-announcements.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { openReadSide } from "../support/read-side.ts";
import { startOwnMysql, type TestMysql } from "../support/services.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

describe("a projection whose database goes away", () => {
  let mysql: TestMysql;
  let proxy: TcpProxy;
  let url: string;
  before(async function () {
    this.timeout(120_000);
    mysql = await startOwnMysql();
    const address = new URL((await mysql.freshDatabase()).url);
    proxy = await startTcpProxy({ host: address.hostname, port: Number(address.port) });
    address.hostname = "127.0.0.1";
    address.port = String(proxy.port);
    url = address.href;
    const db = createDatabase(url);
    await migrate(db, allProjectors);
    await db.destroy();
  });
  after(async () => {
    await proxy.stop();
    await mysql.cleanUp();
  });

  const log = createMemoryEventLog();
  const announcements = createMemoryAnnouncements();

  const startProjection = (contentStore: ContentStore = createMemoryContentStore()) => {
    const db = createDatabase(url, { silenceMs: 1000 });
    const said: string[] = [];
    const say = (fields: object, message: string): void => {
      said.push(`${message} ${"error" in fields ? fields.error : ""}`.trim());
    };
    const runner = createProjectorRunner({
      projector: jobsProjector,
      db,
      log,
      sources: { readContent: createContentReader(contentStore) },
      announcements,
      logger: { info: say, warn: say, error: say },
      mayChangeTables: true,
    });
    runner.start();
    const positions = createReadPositions(db, announcements);
    const appears = async (job: JobRef): Promise<void> => {
      await eventually(async () => {
        expect((await createJobQueries(db).find(job)).job).to.include({ status: "queued" });
      }, 20_000);
    };
    const stop = async (): Promise<void> => {
      await runner.stop();
      await db.destroy();
    };
    return { db, said, positions, appears, stop };
  };

  const oneJob = async (): Promise<JobRef> => {
    const job = newJob();
    await happen(log, job, [jobCreated()]);
    return job;
  };

  it("says so once, waits without hurry, and catches up when it is back", async function () {
    this.timeout(120_000);
    const { said, appears, stop } = startProjection();
    await appears(await oneJob());
    await mysql.kill();
    const meanwhile = await oneJob();
    const usedBefore = process.cpuUsage();
    await eventually(() => expect(said).to.have.length(1));
    await mysql.start();
    await appears(meanwhile);
    await appears(await oneJob());
    expect(process.cpuUsage(usedBefore).user / 1e6, "seconds of CPU while waiting").to.be.lessThan(10);
    await eventually(() => expect(said).to.have.length(2));
    expect(said[0]).to.match(/^projection failed; retrying /);
    expect(said[1]).to.equal("projection is running again");
    await stop();
  });

  it("starts before it, and is there when it comes", async function () {
    this.timeout(120_000);
    await mysql.stop();
    const { appears, stop } = startProjection();
    const job = await oneJob();
    await mysql.start();
    await appears(job);
    await stop();
  });

  it("stops when it is told to while the database is away", async function () {
    this.timeout(120_000);
    const { appears, stop } = startProjection();
    await appears(await oneJob());
    await mysql.stop();
    await oneJob();
    await stop();
    await mysql.start();
  });

  it("gives up connections on which nothing is heard any more, and goes on when the network is back", async function () {
    this.timeout(120_000);
    const { appears, said, db, positions, stop } = startProjection();
    await appears(await oneJob());
    proxy.stall();
    const job = await oneJob();
    const askedAt = Date.now();
    const failure = await failureOf(createJobQueries(db).find(job));
    expect(isDatabaseTrouble(failure), failure.message).to.equal(true);
    expect(Date.now() - askedAt).to.be.lessThan(15_000);
    expect(await positions.waitFor("jobs", Number.MAX_SAFE_INTEGER, 100).catch(() => false)).to.equal(false);
    await eventually(() => expect(said).to.have.length(1));
    await proxy.restore();
    await appears(job);
    await stop();
  });

  it("keeps what was sent out of what it says", async () => {
    const { db, stop } = startProjection();
    const failure = await failureOf(
      (async () => {
        await db.raw("INSERT INTO nowhere (email) VALUES (?)", ["ada@example.com"]);
      })(),
    );
    expect(JSON.stringify([failure.message, failure])).to.not.include("ada@");
    await stop();
  });
});

describe("a projection whose content store goes away", () => {
  it("waits for it, and does not take its absence for an erasure", async () => {
    const side = await openReadSide();
    let isAway = true;
    const readContent = createContentReader({
      ...side.contentStore,
      get: async (job) => {
        if (isAway) throw new Error("503");
        return side.contentStore.get(job);
      },
    });
    try {
      side.startProjector(jobsProjector, { sources: { readContent } });
      const job = newJob();
      await side.storeContent(job);
      await side.happens(job, jobCreated());
      await eventually(() => expect(side.logged).to.have.length(1));
      expect((await createJobQueries(side.db).find(job)).job).to.equal(null);
      isAway = false;
      await side.caughtUp("jobs");
      expect((await createJobQueries(side.db).find(job)).job).to.include({ subject: "Your invoice" });
      expect(side.logged.map(({ level, message }) => [level, message])).to.deep.equal([
        ["warn", "projection failed; retrying"],
        ["info", "projection is running again"],
      ]);
    } finally {
      await side.cleanUp();
    }
  });
});
