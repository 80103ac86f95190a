import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { createContentReader } from "../../projections/following/content-reader.ts";
import { checkRows } from "../../projections/rebuilding/check-rows.ts";
import { schedulesProjector } from "../../projections/schedules/projector.ts";
import { createScheduleQueries } from "../../projections/schedules/queries.ts";
import { createDatabase } from "../../src/database/database.ts";
import type { TimesOf } from "../../src/domain/schedule/tend.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { deleteSchedule, saveSchedule } from "../../src/mailings/schedules/save-schedule.ts";
import { cause } from "../support/mailings.ts";
import { openReadSide, type ReadSide } from "../support/read-side.ts";
import { addSchedule, createClock, decideSchedule, letter, type ScheduleStage } from "../support/schedule-followers.ts";

const now = "2026-03-02T10:00:00.000Z";
const settings = { makes: "job", cron: "0 9 * * *", timeZone: "UTC", overlap: "skip", catchUp: "none" } as const;

describe("The read model of schedules", () => {
  let side: ReadSide;
  let stage: ScheduleStage;

  beforeEach(async () => {
    side = await openReadSide();
    stage = { log: side.log, contentStore: side.contentStore, clock: createClock(now) };
  });
  afterEach(() => side.cleanUp());

  it("is the same after a rebuild, though contents are gone by then", async () => {
    const runner = side.startProjector(schedulesProjector);
    const [changed, deleted, failed] = [await addSchedule(stage), await addSchedule(stage), await addSchedule(stage)];
    await side.caughtUp("schedules");
    const request = { name: "Daily", settings, template: letter };
    await saveSchedule(stage, changed, { as: "change", request, cause, at: now });
    await deleteSchedule(stage, deleted, { type: "DeleteSchedule", at: now, reason: null }, cause);
    const [first, dueAt] = ["2026-03-02T10:05:00.000Z", "2026-03-02T10:10:00.000Z"];
    const timesOf = () => ({ count: 2, first, last: dueAt, beforeLast: first });
    const previous = { isOpen: false, endedAt: null } as const;
    const idOf = () => "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f";
    await decideSchedule(stage, failed, { type: "TendSchedule", at: dueAt, timesOf, previous, idOf });
    const single = () => null;
    await decideSchedule(stage, failed, { type: "TendSchedule", at: dueAt, timesOf: single, previous, idOf });
    await side.caughtUp("schedules");
    await runner.stop();
    const differences: unknown[] = [];
    await checkRows([schedulesProjector], {
      ...side.rebuildSetup(),
      onChecked: (one) => differences.push(...one.differences),
    });
    expect(differences).to.deep.equal([]);
    const queries = createScheduleQueries(side.db);
    const { schedules } = await queries.list("default", { cursor: null, limit: 10 });
    expect(schedules.map(({ id, name }) => [id, name])).to.deep.equal([
      [failed.jobId, "Weekly"],
      [changed.jobId, "Daily"],
    ]);
    expect((await queries.all("other")).scheduleIds).to.deep.equal([]);
    expect((await queries.firings("default", failed.jobId, { cursor: null, limit: 10 })).firings).to.have.lengthOf(1);
  });

  it("is made though the contents of many schedules come slowly", async () => {
    const added: JobRef[] = [];
    for (let each = 0; each < 6; each += 1) added.push(await addSchedule(stage));
    // A connection that says nothing for so long is given up.
    const db = createDatabase(side.url, { silenceMs: 1000 });
    const read = createContentReader(side.contentStore);
    const readContent = async (job: JobRef) => {
      await pause(300);
      return read(job);
    };
    const runner = side.startProjector(schedulesProjector, { db, sources: { readContent } });
    try {
      await side.caughtUp("schedules");
      const { schedules } = await createScheduleQueries(side.db).list("default", { cursor: null, limit: 10 });
      expect(schedules.map(({ id, name }) => [id, name])).to.deep.equal(
        added.toReversed().map(({ jobId }) => [jobId, "Weekly"]),
      );
    } finally {
      await runner.stop();
      await db.destroy();
    }
  });

  it("keeps a firing in its place that fails later, for those who page through them, before and after a rebuild", async () => {
    const runner = side.startProjector(schedulesProjector);
    const schedule = await addSchedule(stage);
    const times = ["2026-03-02T10:05:00.000Z", "2026-03-02T10:10:00.000Z", "2026-03-02T10:15:00.000Z"];
    const fire = async (dueAt: string, isOpen: boolean) => {
      const times = { count: 1, first: dueAt, last: dueAt, beforeLast: null };
      const timesOf: TimesOf = (_settings, _after, upTo) => (upTo < dueAt ? null : times);
      const previous = isOpen ? ({ isOpen } as const) : ({ isOpen, endedAt: null } as const);
      const idOf = () => "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f";
      await decideSchedule(stage, schedule, { type: "TendSchedule", at: dueAt, timesOf, previous, idOf });
    };
    const [first = "", second = "", third = ""] = times;
    await fire(first, false);
    await fire(second, true);
    await fire(third, true);
    await side.caughtUp("schedules");
    const queries = createScheduleQueries(side.db);
    const page = async (cursor: number | null) => {
      const { firings, nextCursor } = await queries.firings("default", schedule.jobId, { cursor, limit: 1 });
      return { found: firings.map(({ dueAt, outcome }) => `${dueAt} ${outcome}`), cursor: Number(nextCursor) };
    };
    const newest = await page(null);
    await decideSchedule(stage, schedule, {
      type: "FailFiring",
      at: now,
      dueAt: first,
      code: "event-log-full",
      places: [],
    });
    await side.caughtUp("schedules");
    await runner.stop();
    for (const isRebuilt of [false, true]) {
      if (isRebuilt) await side.rebuild([schedulesProjector]);
      const next = await page(newest.cursor);
      const last = await page(next.cursor);
      expect([...newest.found, ...next.found, ...last.found]).to.deep.equal([
        `${third} skipped`,
        `${second} skipped`,
        `${first} failed`,
      ]);
    }
  });

  it("keeps the firings of a schedule for a year, before and after a rebuild", async () => {
    const runner = side.startProjector(schedulesProjector);
    const [yearly, other] = [await addSchedule(stage), await addSchedule(stage)];
    const fire = async (schedule: JobRef, dueAt: string) => {
      const timesOf = () => ({ count: 1, first: dueAt, last: dueAt, beforeLast: null });
      const idOf = () => "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f";
      const previous = { isOpen: false, endedAt: null } as const;
      await decideSchedule(stage, schedule, { type: "TendSchedule", at: dueAt, timesOf, previous, idOf });
    };
    await fire(yearly, "2026-03-02T10:05:00.000Z");
    await fire(other, "2026-03-02T10:05:00.000Z");
    await fire(yearly, "2026-09-02T10:05:00.000Z");
    await fire(yearly, "2027-03-04T10:05:00.000Z");
    await side.caughtUp("schedules");
    await runner.stop();
    const timesOf = async (schedule: JobRef) => {
      const queries = createScheduleQueries(side.db);
      const { firings } = await queries.firings("default", schedule.jobId, { cursor: null, limit: 10 });
      return firings.map(({ dueAt }) => dueAt.slice(0, 10));
    };
    expect(await timesOf(yearly)).to.deep.equal(["2027-03-04", "2026-09-02"]);
    expect(await timesOf(other)).to.deep.equal(["2026-03-02"]);
    await side.rebuild([schedulesProjector]);
    expect(await timesOf(yearly)).to.deep.equal(["2027-03-04", "2026-09-02"]);
  });
});
