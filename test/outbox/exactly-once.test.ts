import { expect } from "chai";
import type { Outbox } from "../../src/outbox/outbox.ts";
import { eventually } from "../support/eventually.ts";
import { mailingOfRow, type OutboxSide, openOutboxSide } from "../support/outbox-side.ts";

describe("the rows of the outbox become one job each", function () {
  this.timeout(120_000);

  let side: OutboxSide;

  beforeEach(async () => {
    side = await openOutboxSide();
  });
  afterEach(() => side.cleanUp());

  const insertMany = async (count: number): Promise<void> => {
    const rows = Array.from({ length: count }, (_, index) => ({
      id: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
      request: JSON.stringify({ ...mailingOfRow, recipients: [`r${index}@example.com`] }),
    }));
    await side.db.batchInsert("outbox", rows, 500);
  };
  const countOf = async (status: string): Promise<number> => {
    const [found] = await side.db("outbox").where({ status }).count({ rows: "*" });
    return Number(found?.["rows"]);
  };
  const allProcessed = (count: number) =>
    eventually(async () => expect(await countOf("processed")).to.equal(count), 90_000);

  async function expectOneJobEach(count: number): Promise<void> {
    const created = await side.created();
    expect(created.map(({ correlationId }) => correlationId).sort()).to.deep.equal(
      Array.from({ length: count }, (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`),
    );
    const jobs = new Map(created.map(({ correlationId, jobId }) => [correlationId, jobId]));
    const rows = await side.db("outbox").select("id", "response");
    for (const { id, response } of rows) {
      const { jobId } = typeof response === "string" ? JSON.parse(response) : response;
      expect(jobId).to.equal(jobs.get(id));
    }
  }

  it("with three relays at work on two thousand", async () => {
    await insertMany(2000);
    for (let relays = 0; relays < 3; relays += 1) side.startRelay();
    await allProcessed(2000);
    await expectOneJobEach(2000);
    const [{ most }] = (await side.db("outbox").max({ most: "attempts" })) as [{ most: number }];
    expect(most).to.equal(1);
    expect([side.waits, side.broken]).to.deep.equal([[], []]);
  });

  it("where a relay died between the job and the answer, also when rules have changed since", async () => {
    await insertMany(20);
    const { outbox } = side.dependencies;
    const dying: Outbox = { ...outbox, settle: () => Promise.reject(new Error("It was killed here.")) };
    const dead = side.startRelay({ outbox: dying });
    await eventually(() => expect(side.waits).to.have.length(1));
    await dead.stop();
    expect(await countOf("pending")).to.equal(20);
    expect(await side.created()).to.have.length(20);

    side.rules["default"] = { senders: null, dailyRecipients: 1, approvalAbove: null };
    await side.db("outbox").update({ next_retry_at: null });
    side.startRelay();
    await allProcessed(20);
    await expectOneJobEach(20);
  });

  it("where a relay died between the content and the event", async () => {
    await insertMany(20);
    const { log } = side.dependencies;
    const dying = { ...log, append: () => Promise.reject(new Error("It was killed here.")) };
    const dead = side.startRelay({ log: dying });
    await eventually(() => expect(side.broken.length).to.be.at.least(20));
    await dead.stop();
    expect(await side.created()).to.deep.equal([]);
    await side.db("outbox").update({ next_retry_at: null });
    side.startRelay();
    await allProcessed(20);
    await expectOneJobEach(20);
  });

  it("where two relays have the same rows in hand, as one was thought to be dead", async () => {
    await insertMany(40);
    const { outbox } = side.dependencies;
    const rows = await outbox.take(["default"], { rows: 64, bytes: 1e6, bytesOfRow: 1e6 });
    expect(rows.rows).to.have.length(40);
    const again: Outbox = {
      ...outbox,
      waiting: async () => ["default"],
      take: async () => ({ ...rows, hasMore: false }),
    };
    side.startRelay({ outbox: again });
    side.startRelay({ outbox: again });
    side.startRelay({ outbox: again });
    await allProcessed(40);
    await expectOneJobEach(40);
    expect(side.broken).to.deep.equal([]);
  });
});
