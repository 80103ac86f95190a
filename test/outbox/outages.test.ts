import { expect } from "chai";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { LogFull } from "../../src/event-log/log-failures.ts";
import { eventually } from "../support/eventually.ts";
import { type OutboxSide, openOutboxSide } from "../support/outbox-side.ts";
import { type OwnNats, startOwnMysql, startOwnNats, type TestMysql } from "../support/services.ts";

describe("the outbox while a server is away", function () {
  this.timeout(120_000);

  let nats: OwnNats;
  let mysql: TestMysql;
  let side: OutboxSide;
  let relay: { stop(): Promise<void> };

  before(async () => {
    [nats, mysql] = await Promise.all([startOwnNats(), startOwnMysql()]);
    side = await openOutboxSide({ databaseUrl: (await mysql.freshDatabase()).url, ownNats: nats });
    relay = side.startRelay();
  });
  after(async () => {
    await side.cleanUp();
    await mysql.cleanUp();
  });

  const processed = (ids: readonly string[], withinMs = 40_000) =>
    eventually(async () => {
      for (const id of ids) expect(await side.row(id)).to.include({ status: "processed" });
    }, withinMs);
  const insertSome = () => Promise.all(Array.from({ length: 10 }, () => side.insert()));

  it("waits for the log without using up any row's attempts, and goes on once it is back", async () => {
    await nats.stop();
    const ids = await insertSome();
    await eventually(() => expect(side.waits.length).to.be.at.least(3), 40_000);
    expect(side.waits.every((failure) => failure instanceof Unavailable)).to.equal(true);
    const later = await insertSome();
    await eventually(() => expect(side.waits.length).to.be.at.least(5), 40_000);
    // What was in hand as it began was tried in vain; what came later was not even taken.
    for (const id of later) expect(await side.row(id)).to.include({ status: "pending", attempts: 0 });
    await nats.start();
    await processed([...ids, ...later]);
    expect(await side.created()).to.have.length(20);
  });

  it("says so while the database is away, and goes on once it is back", async () => {
    side.waits.length = 0;
    await mysql.stop();
    await eventually(() => expect(side.waits).not.to.have.length(0), 40_000);
    expect(side.waits.some((failure) => failure instanceof Unavailable)).to.equal(false);
    await mysql.start();
    const ids = await eventually(insertSome, 40_000);
    await processed(ids);
  });

  it("makes no second job where the database was killed before the answer was written down", async () => {
    const before = (await side.created()).length;
    const { outbox } = side.dependencies;
    await relay.stop();
    const ids = await insertSome();
    const unlucky = side.startRelay({
      outbox: {
        ...outbox,
        settle: async (results) => {
          await mysql.kill();
          await outbox.settle(results);
        },
      },
    });
    await eventually(async () => expect(await side.created()).to.have.length(before + 10), 40_000);
    await unlucky.stop();
    await mysql.start();
    await eventually(async () => {
      expect(await side.db("outbox").whereIn("id", ids).update({ next_retry_at: null })).to.equal(10);
    }, 40_000);
    side.startRelay();
    await processed(ids);
    expect(await side.created()).to.have.length(before + 10);
  });
});

describe("the outbox of a log that is full", function () {
  this.timeout(120_000);

  let side: OutboxSide;

  before(async () => {
    side = await openOutboxSide();
  });
  after(() => side.cleanUp());

  it("keeps its rows, untried, until there is room", async () => {
    const rooms: boolean[] = [];
    let hasRoom = false;
    const id = await side.insert();
    side.startRelay({
      room: {
        isLeftForJobs: async () => {
          rooms.push(hasRoom);
          return hasRoom;
        },
      },
    });
    await eventually(() => expect(rooms.length).to.be.at.least(2));
    expect(side.waits[0]).to.be.instanceOf(LogFull);
    expect(await side.row(id)).to.include({ status: "pending", attempts: 0 });
    hasRoom = true;
    await eventually(async () => expect(await side.row(id)).to.include({ status: "processed", attempts: 1 }));
  });
});
