import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { eventually } from "../support/eventually.ts";
import { workUntil } from "../support/just-work.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

/** Longer than a worker takes to look for work once more. */
const nothingMoreMs = 1500;

describe("a worker with 20 slots", () => {
  let writeSide: WriteSide;
  let until: AbortController;
  const begun: JobRef[] = [];

  beforeEach(async () => {
    writeSide = await startWriteSide();
    writeSide.startScheduler();
    until = new AbortController();
    begun.length = 0;
  });
  afterEach(async () => {
    until.abort();
    await writeSide.cleanUp();
  });

  const startWorker = () => writeSide.startWork({ ...workUntil("tea.make", until.signal, begun), connections: 4 });
  const create = (jobs: number, recipients: number): Promise<JobRef[]> =>
    Promise.all(
      Array.from({ length: jobs }, () =>
        writeSide.createJob(
          Array.from({ length: recipients }, (_, index) => `r${index}@example.com`),
          { type: "tea.make" },
        ),
      ),
    );
  const beginsExactly = async (count: number): Promise<void> => {
    await eventually(() => expect(begun).to.have.lengthOf(count));
    await pause(nothingMoreMs);
    expect(begun).to.have.lengthOf(count);
  };

  it("does 20 jobs of one recipient at a time", async () => {
    await create(23, 1);
    const worker = startWorker();
    await beginsExactly(20);
    expect(worker.busy()).to.equal(20);
    until.abort();
    await eventually(() => expect(begun).to.have.lengthOf(23));
  });

  it("does five at a time that could use all connections", async () => {
    await create(8, 4);
    const worker = startWorker();
    await beginsExactly(5);
    expect(worker.busy()).to.equal(20);
    until.abort();
    await eventually(() => expect(begun).to.have.lengthOf(8));
  });

  it("does small ones beside large ones, as long as a slot is free", async () => {
    await create(3, 1000);
    const worker = startWorker();
    await eventually(() => expect(begun).to.have.lengthOf(3));
    await create(6, 2);
    await beginsExactly(3 + 4);
    expect(worker.busy()).to.equal(3 * 4 + 4 * 2);
  });
});
