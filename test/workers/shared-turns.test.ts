import { expect } from "chai";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { streamName } from "../../src/event-log/subjects.ts";
import type { WorkOfTurn } from "../../src/workers/job-work.ts";
import { eventually } from "../support/eventually.ts";
import { justWork } from "../support/just-work.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const type = "email.send";
const most = 5;

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

  /** Each takes up to `most`, and keeps them until they are released. */
  const startWorkers = async (count: number): Promise<void> => {
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const work: WorkOfTurn = async ({ worker }) => {
      jobsOf.set(worker, (jobsOf.get(worker) ?? 0) + 1);
      await released;
      return { kind: "interrupted" };
    };
    for (let started = 0; started < count; started += 1)
      writeSide.startWork(justWork(type, work), { concurrency: most });
    await eventually(async () => expect(await countWaiting()).to.equal(count));
  };
  /** How many workers wait for a turn of each lane: one that still asks at a lower lane hands back what it is given. */
  const countWaiting = async (): Promise<number> => {
    const { consumers } = await writeSide.connection.nats.jetstreamManager({ checkAPI: false });
    const lanes = await consumers.list(streamName(writeSide.nats.prefix, "TURNS")).next();
    return Math.min(...lanes.map(({ num_waiting }) => num_waiting));
  };
  /** Each of a tenant of its own, so that they all come by the same lane: a worker waits at each lane for itself. */
  const createJobs = (count: number): Promise<readonly JobRef[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => createJobOf(`tenant-${index}`)));
  const createJobOf = (tenant: string) => writeSide.createJob(["ada@example.com"], {}, {}, tenant);
  const takenOnce = async (jobs: number): Promise<readonly number[]> => {
    const counts = await eventually(() => {
      const found = [...jobsOf.values()].sort();
      expect(found.reduce((sum, one) => sum + one, 0)).to.equal(jobs);
      return found;
    });
    expect(writeSide.reported).to.deep.equal([]);
    return counts;
  };

  it("go to idle workers first: eight workers take one of eight each", async () => {
    await startWorkers(8);
    await createJobs(8);
    expect(await takenOnce(8)).to.deep.equal([1, 1, 1, 1, 1, 1, 1, 1]);
  });

  // Which of the busy workers takes the next one depends on how fast each of them asks, and so on the load of the machine.
  it("leave no worker idle while another takes more than one of them", async () => {
    await startWorkers(4);
    await createJobs(9);
    const counts = await takenOnce(9);
    expect(counts, `${counts}`).to.have.lengthOf(4);
    expect(Math.max(...counts), `${counts}`).to.be.at.most(most);
  });

  it("are all taken by one worker, as long as it has room", async () => {
    await startWorkers(1);
    await createJobs(7);
    expect(await takenOnce(most)).to.deep.equal([most]);
  });
});
