import { expect } from "chai";
import { v7 as uuid } from "uuid";
import { notificationsProjector } from "../../../projections/notifications/projector.ts";
import { createNotificationQueries } from "../../../projections/notifications/queries.ts";
import type { EventOfJob } from "../../../src/domain/job/job-view.ts";
import type { NotificationEvent } from "../../../src/domain/notifications/notification.ts";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import { notificationFromLog } from "../../../src/history/notification-from-log.ts";
import {
  caused,
  counts,
  jobCompleted,
  jobCreated,
  jobFailed,
  jobRetried,
  jobStarted,
  later,
  now,
} from "../../support/examples.ts";
import { newJob } from "../../support/happen.ts";
import { cancelled, completed, failed, paused, retrying } from "../../support/histories.ts";
import { openReadSide, type ReadSide, tablesOf } from "../../support/read-side.ts";

const key = "key:4f1c9a52d0";
const read = (run: number, at = later): NotificationEvent => ({ type: "NotificationRead", at, data: { run } });
const secondRun = [jobRetried({}, later), jobStarted({ run: 2 })];

describe("the notification to the creator of a job that it has ended", () => {
  let side: ReadSide;

  before(async () => {
    side = await openReadSide();
    side.startProjector(notificationsProjector);
  });
  after(() => side.cleanUp());

  /** A job that a caller created, and its further events. */
  async function asked(actor: string, [created = jobCreated(), ...rest]: readonly EventOfJob[], tenant = "default") {
    const job = newJob(tenant);
    if (created.type !== "JobCreated") throw new Error("A history begins with JobCreated.");
    await side.log.append(job, [{ ...caused(uuid(), created), actor }], 0);
    await side.happens(job, ...rest);
    return job;
  }
  const listed = async (actor: string, unreadOnly = false, tenant = "default") => {
    await side.caughtUp("notifications");
    const options = { unreadOnly, cursor: null, limit: 100 };
    return (await createNotificationQueries(side.db).list(tenant, actor, options)).notifications;
  };
  const toldOf = async (actor: string, job: JobRef, unreadOnly = false) =>
    (await listed(actor, unreadOnly)).filter(({ jobId }) => jobId === job.jobId);

  it("is nothing while it goes on", async () => {
    for (const history of [retrying(), paused()]) {
      expect(await toldOf(key, await asked(key, history))).to.deep.equal([]);
    }
  });

  it("says how it ended", async () => {
    for (const [history, type] of [
      [completed(), "job.completed"],
      [failed(), "job.failed"],
      [cancelled(), "job.cancelled"],
    ] as const) {
      const [notification, ...others] = await toldOf(key, await asked(key, history));
      expect(others).to.deep.equal([]);
      expect(notification).to.include({ type, run: 1, createdAt: now, readAt: null });
      expect(notification?.error === null).to.equal(type !== "job.failed");
    }
  });

  it("is there for each run of it", async () => {
    const job = await asked(key, [...failed(), ...secondRun, jobCompleted({ run: 2 })]);
    expect((await toldOf(key, job)).map(({ run, type }) => [run, type])).to.deep.equal([
      [2, "job.completed"],
      [1, "job.failed"],
    ]);
    const unreached = jobCompleted({ counts: counts({ sent: 2, failed: 1 }) });
    const failedInSecond = await asked(key, [
      jobCreated(),
      jobStarted(),
      unreached,
      ...secondRun,
      jobFailed({ run: 2 }),
    ]);
    expect((await toldOf(key, failedInSecond)).map(({ run, type }) => [run, type])).to.deep.equal([
      [2, "job.failed"],
      [1, "job.completed"],
    ]);
    const fromLog = await notificationFromLog(side.log, failedInSecond, 2, key);
    expect((await toldOf(key, failedInSecond))[0]).to.deep.equal(fromLog?.notification);
    const cancelledInSecond = await asked(key, [...failed(), ...secondRun, ...cancelled().slice(1)]);
    expect((await toldOf(key, cancelledInSecond)).map(({ run }) => run)).to.deep.equal([2, 1]);
  });

  it("is shown to no other key", async () => {
    const job = await asked(key, completed());
    expect(await toldOf("key:another", job)).to.deep.equal([]);
    expect(await toldOf("anonymous", job)).to.deep.equal([]);
    await asked(key, completed(), "other");
    expect(await listed(key, false, "other")).to.have.length(1);
    const outbox = await asked("outbox", completed());
    expect(await toldOf("outbox", outbox)).to.deep.equal([]);
  });

  it("is read since it was first marked so", async () => {
    const job = await asked(key, [...failed(), read(1), read(1, "2026-12-24T00:00:00.000Z"), read(7)]);
    expect((await toldOf(key, job)).map(({ readAt }) => readAt)).to.deep.equal([later]);
    expect(await toldOf(key, job, true)).to.deep.equal([]);
    await side.happens(job, ...secondRun, jobFailed({ run: 2 }));
    expect((await toldOf(key, job, true)).map(({ run }) => run)).to.deep.equal([2]);
  });

  it("is as the log has it", async () => {
    for (const history of [completed(), failed(), cancelled(), [...failed(), read(1)]]) {
      const job = await asked(key, history);
      const fromLog = await notificationFromLog(side.log, job, 1, key);
      expect(await toldOf(key, job)).to.deep.equal([fromLog?.notification]);
      expect(await notificationFromLog(side.log, job, 2, key)).to.equal(null);
      expect(await notificationFromLog(side.log, job, 1, "key:another")).to.equal(null);
    }
  });

  it("remembers no job that has ended for good", async () => {
    const job = await asked(key, failed());
    await side.caughtUp("notifications");
    expect(await side.db("notifications_jobs").where({ job_id: job.jobId })).to.have.length(1);
    await side.happens(job, ...secondRun, jobCompleted({ run: 2 }));
    await side.caughtUp("notifications");
    expect(await side.db("notifications_jobs").where({ job_id: job.jobId })).to.deep.equal([]);
  });

  it("is the same after a rebuild, what was read included", async () => {
    await side.caughtUp("notifications");
    const live = await tablesOf(side.db, notificationsProjector);
    await side.rebuild([notificationsProjector]);
    expect(await tablesOf(side.db, notificationsProjector)).to.deep.equal(live);
    expect(live["notifications"]).to.have.length.greaterThan(10);
    const readOnes = (live["notifications"] as { read_at: Date | null }[]).filter(({ read_at }) => read_at !== null);
    expect(readOnes).not.to.have.length(0);
  });
});
