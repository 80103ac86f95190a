import { expect } from "chai";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { streamName } from "../../src/event-log/subjects.ts";
import type { WorkOfTurn } from "../../src/workers/job-work.ts";
import { eventually } from "../support/eventually.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const type = "email.send";

describe("Jobs that take their time, and workers that are idle", () => {
  let writeSide: WriteSide;
  let release: () => void;
  let jobsOf: Map<string, number>;

  beforeEach(async () => {
    writeSide = await startWriteSide();
    writeSide.startScheduler();
    jobsOf = new Map();
  });

  afterEach(async () => {
    release();
    await writeSide.cleanUp();
  });

  /** Each takes up to five, and keeps them until they are released. */
  const startWorkers = async (count: number): Promise<void> => {
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const work: WorkOfTurn = async ({ worker }) => {
      jobsOf.set(worker, (jobsOf.get(worker) ?? 0) + 1);
      await released;
      return { kind: "interrupted" };
    };
    for (let started = 0; started < count; started += 1) writeSide.startWork({ type, work });
    await eventually(async () => expect(await mostWaiting()).to.equal(count));
  };
  /** How many requests for turns wait at the lane that has the most: one of each worker that is ready. */
  const mostWaiting = async (): Promise<number> => {
    const { consumers } = await writeSide.connection.nats.jetstreamManager({ checkAPI: false });
    const found = await consumers.list(streamName(writeSide.nats.prefix, "TURNS")).next();
    return Math.max(...found.map(({ num_waiting }) => num_waiting));
  };
  const createJobs = (count: number): Promise<readonly JobRef[]> =>
    Promise.all(Array.from({ length: count }, () => writeSide.createJob(["ada@example.com"])));
  const takenOnce = async (jobs: number): Promise<readonly number[]> => {
    const counts = await eventually(() => {
      const found = [...jobsOf.values()].sort();
      expect(found.reduce((sum, one) => sum + one, 0)).to.equal(jobs);
      return found;
    });
    expect(writeSide.reported).to.deep.equal([]);
    return counts;
  };

  it("are shared: two workers take two and three of five", async () => {
    await startWorkers(2);
    await createJobs(5);
    expect(await takenOnce(5)).to.deep.equal([2, 3]);
  });

  it("are spread over all of eight workers", async () => {
    await startWorkers(8);
    await createJobs(15);
    const counts = await takenOnce(15);
    expect(counts).to.have.lengthOf(8);
    expect(Math.max(...counts), `${counts}`).to.be.at.most(3);
  });

  it("are all taken by one worker, as long as it has room", async () => {
    await startWorkers(1);
    await createJobs(7);
    expect(await takenOnce(5)).to.deep.equal([5]);
  });
});
