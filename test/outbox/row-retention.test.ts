import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { createMysqlEndedRows } from "../../src/outbox/mysql-outbox.ts";
import { createRowRetention } from "../../src/outbox/row-retention.ts";
import type { PollLoop } from "../../src/process/poll-loop.ts";
import { eventually } from "../support/eventually.ts";
import { mailingOfRow, type OutboxSide, openOutboxSide } from "../support/outbox-side.ts";

const dayMs = 86_400_000;

describe("rows of the outbox that were kept long enough", function () {
  this.timeout(120_000);

  let side: OutboxSide;
  let retention: PollLoop | null = null;
  const removed: number[] = [];
  const failures: unknown[] = [];

  before(async () => {
    side = await openOutboxSide();
  });
  afterEach(async () => {
    await retention?.stop();
    await side.db("outbox").delete();
    removed.length = 0;
    expect(failures).to.deep.equal([]);
  });
  after(() => side.cleanUp());

  const begin = (keptDays: number): void => {
    retention = createRowRetention(
      createMysqlEndedRows(side.db),
      { keptMs: keptDays * dayMs, everyMs: 20 },
      { removed: (rows) => removed.push(rows), failed: (failure) => failures.push(failure) },
    );
    retention.start();
  };
  const row = (status: string, daysOld: number) => ({
    id: randomUUID(),
    request: JSON.stringify(mailingOfRow),
    status,
    created_at: new Date(Date.now() - daysOld * dayMs),
  });
  const left = async (): Promise<readonly string[]> => await side.db("outbox").pluck("id");

  it("go once they have ended, whatever came of them; younger ones stay, and so do those that wait", async () => {
    const [processed, failed] = [row("processed", 8), row("failed", 8)];
    const kept = [row("pending", 8), row("processed", 6), row("failed", 6), row("pending", 0)];
    await side.db("outbox").insert([processed, failed, ...kept]);
    begin(7);
    await eventually(() => expect(removed).to.deep.equal([2]));
    // Rounds go on meanwhile: with one more to remove, whatever they were to remove besides is gone as well.
    await side.db("outbox").insert(row("processed", 8));
    await eventually(() => expect(removed).to.deep.equal([2, 1]));
    expect(await left()).to.have.members(kept.map(({ id }) => id));
  });

  it("go in small steps, however many there are", async () => {
    const rows = Array.from({ length: 1200 }, () => row("processed", 2));
    await side.db.batchInsert("outbox", rows, 400);
    const steps: number[] = [];
    const ended = createMysqlEndedRows(side.db);
    retention = createRowRetention(
      {
        remove: async (...asked) => {
          const count = await ended.remove(...asked);
          steps.push(count);
          return count;
        },
      },
      { keptMs: dayMs, everyMs: 60_000 },
      { removed: (count) => removed.push(count), failed: (failure) => failures.push(failure) },
    );
    retention.start();
    await eventually(() => expect(removed).to.deep.equal([1200]));
    expect(steps).to.deep.equal([500, 500, 200]);
    expect(await left()).to.deep.equal([]);
  });

  it("leave their job behind, which is found again by a row with the same id", async () => {
    const relay = side.startRelay();
    const id = await side.insert();
    const processed = () =>
      eventually(async () => {
        const found = await side.row(id);
        expect(found.status).to.equal("processed");
        return found;
      });
    const { jobId } = (await processed()).response;
    await side.db("outbox").update({ created_at: new Date(Date.now() - 2 * dayMs) });
    begin(1);
    await eventually(async () => expect(await left()).to.deep.equal([]));
    await retention?.stop();
    await side.insert({ id });
    expect((await processed()).response.jobId).to.equal(jobId);
    expect((await side.created()).filter((created) => created.jobId === jobId)).to.have.lengthOf(1);
    await relay.stop();
  });
});
