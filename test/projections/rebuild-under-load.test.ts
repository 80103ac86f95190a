import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { rollBackRebuilds } from "../../projections/rebuilding/roll-back.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { outcomesProjector } from "../support/outcomes-projector.ts";

type Told = { readonly path: string; readonly status: number; readonly problem: string };

/** Asks all the time for what was written last, and keeps every answer that is not as it should be. */
describe("a rebuild under load", () => {
  let both: ApiWithReadSide;
  beforeEach(async () => {
    both = await startApiWithReadSide();
  });
  afterEach(() => both.close());

  it("swaps, and puts back, without one failed or stale read", async function () {
    this.timeout(120_000);
    const { api, readSide } = both;
    for (let jobs = 0; jobs < 50; jobs += 1) await readSide.mailing();
    readSide.startProjectors();
    await readSide.caughtUp();

    const wrong: Told[] = [];
    const answered = { list: 0, one: 0, logs: 0 };
    let isOver = false;
    let written: { readonly job: JobRef; readonly sequence: number; readonly jobs: number } = await write(50);

    async function write(before: number) {
      const job = await readSide.mailing();
      return { job, sequence: (await readSide.log.state()).lastSequence, jobs: before + 1 };
    }
    const writing = async (): Promise<void> => {
      while (!isOver) {
        written = await write(written.jobs);
        // A log in memory does not yield to other work.
        await pause(5);
      }
    };
    const reading = async (kind: keyof typeof answered): Promise<void> => {
      while (!isOver) {
        const { job, sequence, jobs } = written;
        const path = {
          list: "/api/jobs?pageSize=1",
          one: `/api/jobs/${job.jobId}`,
          logs: `/api/jobs/${job.jobId}/logs`,
        }[kind];
        const { status, headers, body } = await api.ask("GET", path, { headers: { "Min-Sequence": String(sequence) } });
        const readSequence = Number(headers.get("Read-Sequence"));
        const isWhole = {
          list: () => body.pagination?.total >= jobs,
          one: () => body.status === "failed" && body.progress?.failed === 2,
          logs: () => body.length === 3,
        };
        const isRight = status === 200 && readSequence >= sequence && isWhole[kind]();
        if (!isRight) wrong.push({ path, status, problem: JSON.stringify({ readSequence, sequence, jobs, body }) });
        answered[kind] += 1;
      }
    };
    const load = Promise.all([writing(), reading("list"), reading("one"), reading("logs")]);
    const projectors = [jobsProjector, outcomesProjector];
    try {
      // Often enough that there were readers at every moment of it, however fast it is.
      for (let times = 0; times < 3 || Math.min(...Object.values(answered)) <= 10; times += 1) {
        await readSide.rebuild(projectors);
        await rollBackRebuilds(projectors, readSide.rebuildSetup());
      }
    } finally {
      isOver = true;
      await load;
    }
    expect(wrong.slice(0, 3)).to.deep.equal([]);
    for (const [kind, times] of Object.entries(answered)) expect(times, kind).to.be.greaterThan(10);
  });
});
