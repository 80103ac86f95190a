import { expect } from "chai";
import { allProjectors } from "../../projections/all-projectors.ts";
import { createEndedJobs } from "../../projections/jobs/ended-jobs.ts";
import { everyJob } from "../../projections/jobs/list-options.ts";
import { createJobQueries } from "../../projections/jobs/queries.ts";
import { createRetention } from "../../src/erasure/retention.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { jobFromLog } from "../../src/history/job-from-log.ts";
import type { PollLoop } from "../../src/process/poll-loop.ts";
import { createSuppressionList } from "../../src/suppressions/suppression-list.ts";
import { withClockSet } from "../support/clock.ts";
import { emptyOutbox } from "../support/empty-outbox.ts";
import { eventually } from "../support/eventually.ts";
import { jobContentErased, jobCreated } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";
import { createMemorySuppressionStore } from "../support/memory/memory-suppression-store.ts";
import { openReadSide, type ReadSide, tablesOf } from "../support/read-side.ts";

const dayMs = 86_400_000;

describe("jobs that were kept long enough", () => {
  let side: ReadSide;
  let retention: PollLoop | null = null;
  let looks = 0;
  const rounds: { readonly jobs: number; readonly mailings: number }[] = [];
  const failures: unknown[] = [];
  let old: readonly JobRef[];
  let running: JobRef;
  /** Rows of recipients name their job by it. */
  const places = new Map<string, number>();

  before(async () => {
    side = await openReadSide();
    for (const projector of allProjectors) side.startProjector(projector);
    old = [await side.mailing(), await side.mailing(), await side.mailing()];
    running = newJob();
    await side.storeContent(running);
    await side.happens(running, jobCreated());
    await side.caughtUp(...names);
    const rows: { id: string; place: number }[] = await side.db("jobs").select("id", "place");
    for (const { id, place } of rows) places.set(id, place);
  });
  after(async () => {
    await retention?.stop();
    await side.cleanUp();
  });

  const names = allProjectors.map(({ name }) => name);
  const begin = (keptMs: number): PollLoop => {
    const ports = {
      log: side.log,
      contentStore: side.contentStore,
      results: createMemoryResultStore(),
      outbox: emptyOutbox,
      suppressions: createSuppressionList(createMemorySuppressionStore()),
    };
    const begun = createRetention(
      ports,
      createEndedJobs(side.db, side.positions),
      (work) =>
        work().finally(() => {
          looks += 1;
        }),
      { keptMs, everyMs: 20 },
      {
        erased: (erased) => rounds.push(erased),
        notErased: (_, failure) => failures.push(failure),
        failed: (failure) => failures.push(failure),
      },
    );
    begun.start();
    return begun;
  };
  const typesOf = async (job: JobRef) => (await side.log.readHistory(job)).map(({ event }) => event.type);
  const rowsAbout = async (job: JobRef): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const table of allProjectors.flatMap(({ tables }) => Object.keys(tables))) {
      const rows: { readonly job?: number }[] = await side.db(table);
      const isNamed = JSON.stringify(rows).includes(job.jobId);
      if (isNamed || rows.some((row) => row.job === places.get(job.jobId))) found.push(table);
    }
    return found;
  };
  /** Without those that follow from contents, too, as these are gone. */
  const allRows = () =>
    Promise.all(
      allProjectors.map(async (projector) => {
        const tables = Object.entries(await tablesOf(side.db, projector));
        return Object.fromEntries(tables.filter(([table]) => !projector.notCompared?.includes(table)));
      }),
    );

  it("are left alone as long as they are younger", async () => {
    const endedAt = Date.parse("2026-11-21T09:30:00.000Z");
    retention = begin(Date.now() - endedAt + dayMs);
    await side.caughtUp(...names);
    await retention.stop();
    expect(await rowsAbout(old[0] as JobRef)).to.include.members([
      "jobs",
      "jobs_content",
      "jobs_ledgers",
      "recipients",
    ]);
    expect(rounds).to.deep.equal([]);
  });

  it("are left alone by a host whose clock is years ahead of that of the database", async () => {
    looks = 0;
    await withClockSet(3650 * dayMs, async () => {
      retention = begin(365 * dayMs);
      await eventually(() => expect(looks).to.be.above(0));
      await retention.stop();
    });
    expect(rounds).to.deep.equal([]);
    expect(await typesOf(old[0] as JobRef)).not.to.include("JobContentErased");
  });

  it("lose their content and their rows in every read model, and keep their events", async () => {
    retention = begin(0);
    for (const job of old) {
      await eventually(async () => expect(await rowsAbout(job)).to.deep.equal([]));
      expect(await side.contentStore.get(job)).to.equal(null);
      const types = await typesOf(job);
      expect([types.length, types.at(-1)]).to.deep.equal([7, "JobContentErased"]);
    }
    await retention.stop();
    expect(rounds).to.deep.equal([{ jobs: 3, mailings: 0 }]);
    expect(failures).to.deep.equal([]);
    const last = (await side.log.readDecisions(old[0] as JobRef)).at(-1);
    expect([last?.actor, last?.event.data]).to.deep.equal([
      "retention",
      jobContentErased({ isRetired: true, reason: "retention" }).data,
    ]);
  });

  it("are in no list and no total any more, and are still read from the log", async () => {
    const listed = await createJobQueries(side.db).list("default", everyJob);
    expect([listed.total, listed.jobs.map(({ id }) => id)]).to.deep.equal([1, [running.jobId]]);
    const fromLog = await jobFromLog(side.log, side.contentStore, old[0] as JobRef);
    expect(fromLog?.job).to.deep.include({ status: "failed", subject: null, name: null });
  });

  it("do not come back with a rebuild", async () => {
    await side.caughtUp(...names);
    const before = await allRows();
    await side.rebuild(allProjectors);
    expect(await allRows()).to.deep.equal(before);
  });
});
