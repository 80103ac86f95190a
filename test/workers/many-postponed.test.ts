import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { createOpenJobs } from "../../projections/jobs/open-jobs.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { waitingProjector } from "../../projections/waiting/projector.ts";
import { createWaitingList } from "../../projections/waiting/waiting-list.ts";
import { noCounts } from "../../src/domain/mailing/counts.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { createMissingTurns } from "../../src/turns/scheduler/missing-turns.ts";
import { createScheduler } from "../../src/turns/scheduler/scheduler.ts";
import { type JobWork, notNow } from "../../src/workers/job-work.ts";
import { eventually } from "../support/eventually.ts";
import { openReadSide, type ReadSide } from "../support/read-side.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const jobs = 2700;
/** In place of 200,000, as of which there need not be so many jobs. */
const mostDelivered = 1700;

describe("A tenant with very many jobs that cannot begin", () => {
  let writeSide: WriteSide;
  let readSide: ReadSide;
  beforeEach(async () => {
    writeSide = await startWriteSide();
    readSide = await openReadSide(writeSide.log);
    readSide.startProjector(jobsProjector);
    readSide.startProjector(waitingProjector);
  });
  afterEach(async () => {
    await writeSide.cleanUp();
    await readSide.cleanUp();
  });

  const startScheduler = (): void => {
    const { log, turns } = writeSide;
    const ports = { log, turns, openJobs: createOpenJobs(readSide.db), waitingList: createWaitingList(readSide.db) };
    const report = { failed: (failure: unknown) => void writeSide.reported.push(failure), lost: () => {} };
    writeSide.listen(createScheduler(turns, (put) => [createMissingTurns(ports, put, report, 3000)]));
  };
  const createMany = async (count: number, tenant: string): Promise<readonly JobRef[]> => {
    const created: JobRef[] = [];
    while (created.length < count) {
      const some = Array.from({ length: Math.min(100, count - created.length) }, () =>
        writeSide.createJob([], { type: "tea.make" }, {}, tenant),
      );
      created.push(...(await Promise.all(some)));
    }
    return created;
  };

  it("keeps no turns of others from the workers, and its own begin within seconds once they can", async function () {
    this.timeout(180_000);
    let isAway = true;
    const looks = new Set<string>();
    const done = new Set<string>();
    const work: JobWork = {
      type: "tea.make",
      prepare: async ({ tenant, jobId }) => {
        looks.add(jobId);
        if (isAway && tenant === "shop") return notNow;
        return {
          claims: [],
          work: async () => {
            // So long that the others of the tenant go to the overflow.
            if (tenant === "bakery") await pause(200);
            done.add(jobId);
            return { kind: "completed", counts: noCounts };
          },
        };
      },
    };
    startScheduler();
    writeSide.startWork(work, { mostDelivered });
    await createMany(jobs, "shop");
    const others = await createMany(3, "bakery");
    await eventually(() => expect([...done]).to.have.members(others.map(({ jobId }) => jobId)), 60_000);
    await eventually(() => expect(looks.size).to.equal(jobs + others.length), 60_000);
    isAway = false;
    await eventually(() => expect(done.size).to.equal(jobs + others.length), 60_000);
    expect(writeSide.reported).to.deep.equal([]);
  });
});
