import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { createOpenJobs } from "../../../projections/jobs/open-jobs.ts";
import { jobsProjector } from "../../../projections/jobs/projector.ts";
import { waitingProjector } from "../../../projections/waiting/projector.ts";
import { createWaitingList } from "../../../projections/waiting/waiting-list.ts";
import { handleCommand } from "../../../src/commands/handle-command.ts";
import { noCounts } from "../../../src/domain/mailing/counts.ts";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import { UndecodableEvent } from "../../../src/event-log/log-failures.ts";
import { streamName } from "../../../src/event-log/subjects.ts";
import { createMissingTurns, type OpenJobs } from "../../../src/turns/scheduler/missing-turns.ts";
import { createTimer } from "../../../src/turns/scheduler/timer.ts";
import type { QueuedTurn } from "../../../src/turns/turns.ts";
import { eventually } from "../../support/eventually.ts";
import { now } from "../../support/examples.ts";
import { justWork } from "../../support/just-work.ts";
import { openReadSide, type ReadSide } from "../../support/read-side.ts";
import { startWriteSide, type WriteSide } from "../../support/write-side.ts";

const cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

describe("Turns that got lost", () => {
  let writeSide: WriteSide;
  let readSide: ReadSide;
  let stops: (() => Promise<void>)[];
  let reported: unknown[];
  let losses: number[];

  beforeEach(async () => {
    writeSide = await startWriteSide();
    readSide = await openReadSide(writeSide.log);
    readSide.startProjector(jobsProjector);
    readSide.startProjector(waitingProjector);
    stops = [];
    reported = [];
    losses = [];
  });
  afterEach(async () => {
    for (const stop of stops) await stop();
    await writeSide.cleanUp();
    await readSide.cleanUp();
  });

  const report = (failure: unknown): void => void reported.push(failure);
  const put = (turn: QueuedTurn): Promise<void> => writeSide.turns.put(turn, "lane");
  const waitingList = () => createWaitingList(readSide.db);
  const startTimer = (): void => {
    const timer = createTimer(put, waitingList(), report);
    timer.start();
    stops.push(timer.stop);
  };
  const startComparing = (everyMs = 200): void => {
    const { log, turns } = writeSide;
    const ports = { log, turns, openJobs: createOpenJobs(readSide.db), waitingList: waitingList() };
    const comparing = createMissingTurns(
      ports,
      put,
      { failed: report, lost: (count) => void losses.push(count) },
      everyMs,
    );
    comparing.start();
    stops.push(comparing.stop);
  };
  const streams = async () => (await writeSide.connection.nats.jetstreamManager({ checkAPI: false })).streams;
  const turnsStream = (): string => streamName(writeSide.nats.prefix, "TURNS");
  const openJobs = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    await createOpenJobs(readSide.db).forSome(async (jobs) => void found.push(...jobs.map(({ jobId }) => jobId)));
    return found;
  };
  const isThere = async (job: JobRef): Promise<boolean> => (await writeSide.turns.jobs())(job);
  const gets = (job: JobRef) => eventually(async () => expect(await isThere(job)).to.equal(true), 10_000);

  /** Takes a moment, so that turns are held while their stream is deleted. */
  const work = justWork("email.send", async ({ job }, _lease, books) => {
    if (job.jobId.endsWith("7")) await new Promise((resolve) => setTimeout(resolve, 50));
    await books.settled();
    return { kind: "completed", counts: noCounts };
  });

  it("under load cost no job its end, and start none twice", async function () {
    this.timeout(120_000);
    writeSide.startScheduler();
    startComparing();
    for (let worker = 0; worker < 3; worker += 1) writeSide.startWork(work);
    const jobs: JobRef[] = [];
    const waysToLose = [
      async () => (await streams()).delete(turnsStream()),
      async () => (await streams()).purge(turnsStream()),
      async () => Promise.all(jobs.slice(-20).map((job) => writeSide.putTurn(job))),
    ];
    for (let round = 0; round < 12; round += 1) {
      jobs.push(...(await Promise.all(Array.from({ length: 20 }, () => writeSide.createJob([])))));
      // What is to be lost has to be there: the stream is made again with the next turn.
      await eventually(async () => (await streams()).info(turnsStream()), 10_000);
      await waysToLose[round % waysToLose.length]?.();
    }
    for (const job of jobs) {
      await eventually(async () => {
        const types = (await writeSide.log.readDecisions(job)).map(({ event }) => event.type);
        expect(types, job.jobId).to.deep.equal(["JobCreated", "JobStarted", "JobCompleted"]);
      }, 60_000);
    }
    await eventually(
      async () => expect((await (await streams()).info(turnsStream())).state.messages).to.equal(0),
      30_000,
    );
  });

  it("are not listed again and again while the database is away", async () => {
    const { log, turns } = writeSide;
    let lists = 0;
    const listed = {
      ...turns,
      jobs: () => {
        lists += 1;
        return turns.jobs();
      },
    };
    const openJobs = { forSome: () => Promise.reject(new Error("The database is away")) };
    const ports = { log, turns: listed, openJobs, waitingList: waitingList() };
    const comparing = createMissingTurns(ports, put, { failed: report, lost: () => {} }, 100);
    comparing.start();
    stops.push(comparing.stop);
    await eventually(() => expect(reported).to.have.length(1));
    await pause(1000);
    expect({ lists, failures: reported.length }).to.deep.equal({ lists: 1, failures: 1 });
  });

  it("are put again a moment after their stream was deleted, long before the next comparison is due", async () => {
    const job = await writeSide.createJob([]);
    await eventually(async () => expect(await openJobs()).to.deep.equal([job.jobId]), 10_000);
    startComparing(3_600_000);
    await gets(job);
    expect(losses).to.deep.equal([]);
    await (await streams()).delete(turnsStream());
    await gets(job);
    await eventually(() => expect(losses).to.deep.equal([1]));
  });

  it("are put again of jobs that may run, and of no other", async () => {
    const [open, paused, scheduled, ended] = [
      await writeSide.createJob([]),
      await writeSide.createJob([]),
      await writeSide.createJob([], { scheduledAt: inAnHour() }),
      await writeSide.createJob([]),
    ];
    await handleCommand(writeSide.log, paused, { type: "PauseJob", at: now, reason: null }, cause);
    await handleCommand(writeSide.log, ended, { type: "CancelJob", at: now, reason: null }, cause);
    startComparing();
    await gets(open);
    for (const job of [paused, scheduled, ended]) expect(await isThere(job), job.jobId).to.equal(false);
    expect(reported).to.deep.equal([]);
  });

  it("are put again of the first of a group, and of a job whose time has come", async () => {
    const groupSha256 = "9".repeat(64);
    const [first, second] = [
      await writeSide.createJob([], { groupSha256 }),
      await writeSide.createJob([], { groupSha256 }),
    ];
    const due = await writeSide.createJob([], { scheduledAt: "2001-01-01T00:00:00.000Z" });
    startTimer();
    for (const job of [first, due]) await gets(job);
    await (await streams()).purge(turnsStream());
    startComparing();
    for (const job of [first, due]) await gets(job);
    expect(await isThere(second)).to.equal(false);
  });

  it("are put again of all others where one job cannot be read, as only a newer release can", async () => {
    const [newer, other] = [await writeSide.createJob([]), await writeSide.createJob([])];
    const { log, turns } = writeSide;
    const failure = new UndecodableEvent(1, "JobCreated has the version 9", true);
    const readDecisions: typeof log.readDecisions = async (job) => {
      if (job.jobId === newer.jobId) throw failure;
      return await log.readDecisions(job);
    };
    const openJobs: OpenJobs = {
      forSome: async (act) => {
        for (const job of [newer, other]) await act([job]);
      },
    };
    const ports = { log: { ...log, readDecisions }, turns, openJobs, waitingList: waitingList() };
    const comparing = createMissingTurns(ports, put, { failed: report, lost: () => {} });
    comparing.start();
    stops.push(comparing.stop);
    await gets(other);
    expect(reported).to.deep.equal([failure]);
  });

  it("are looked for no more once the process is to stop, however many jobs are open", async () => {
    const job = await writeSide.createJob([]);
    const { log, turns } = writeSide;
    let read = 0;
    const readDecisions: typeof log.readDecisions = async (asked) => {
      read += 1;
      await pause(10);
      return await log.readDecisions(asked);
    };
    const openJobs: OpenJobs = {
      forSome: async (act) => {
        for (let page = 0; page < 500; page += 1) await act([job]);
      },
    };
    const ports = { log: { ...log, readDecisions }, turns, openJobs, waitingList: waitingList() };
    const comparing = createMissingTurns(ports, async () => {}, { failed: report, lost: () => {} });
    comparing.start();
    await eventually(() => expect(read).to.be.above(0));
    await comparing.stop();
    expect(read).to.be.below(100);
    expect(reported).to.deep.equal([]);
  });

  it("are put again of a job whose worker has died with its turn", async () => {
    const job = await writeSide.createJob([]);
    const start = { type: "StartJob", run: 1, attempt: 1, opening: 0, worker: "dead", at: now } as const;
    await handleCommand(writeSide.log, job, start, cause);
    startComparing();
    await gets(job);
    writeSide.startWork(work);
    await eventually(async () => expect((await writeSide.readView(job)).status).to.equal("completed"), 10_000);
  });
});
