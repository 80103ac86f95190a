import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import { isOfJob, type JobRef } from "../../src/event-log/event-log.ts";
import type { CheckpointStore } from "../../src/following/checkpoint-store.ts";
import type { Listening } from "../../src/following/listener.ts";
import { eventually } from "../support/eventually.ts";
import { counts } from "../support/examples.ts";
import { cause, draftMailing, importInto, people, stateOf } from "../support/mailings.ts";
import { createMemoryCheckpointStore } from "../support/memory/memory-checkpoint-store.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import {
  addSchedule,
  createClock,
  decideSchedule,
  followSchedules,
  type ScheduleStage,
  scheduleEventsIn,
} from "../support/schedule-followers.ts";

const at = (time: string): string => `2026-03-02T${time}.000Z`;

describe("The one that fires schedules", function () {
  this.timeout(60_000);

  let stage: ScheduleStage;
  let checkpoints: CheckpointStore;
  let listenings: Listening[];

  beforeEach(() => {
    const clock = createClock(at("10:00:00"));
    stage = { log: createMemoryEventLog(), contentStore: createMemoryContentStore(), clock };
    checkpoints = createMemoryCheckpointStore();
    listenings = [];
  });
  afterEach(async () => {
    await Promise.all(listenings.map((listening) => listening.stop()));
  });

  const listen = (on = stage): Listening => {
    const listening = followSchedules(on, checkpoints);
    listenings.push(listening);
    return listening;
  };
  const leave = async (): Promise<void> => {
    await Promise.all(listenings.splice(0).map((listening) => listening.stop()));
  };
  /** What happened to schedules, in short. */
  const history = async (): Promise<readonly string[]> =>
    (await scheduleEventsIn(stage.log)).map(({ event }) => {
      const { type, data } = event;
      const time = "dueAt" in data ? ` ${data.dueAt.slice(11, 16)}` : "";
      const more = type === "ScheduleSkipped" ? ` ${event.data.count} ${event.data.reason}` : "";
      return `${type.replace("Schedule", "")}${time}${more}`;
    });
  const shows = (...expected: readonly string[]) =>
    eventually(async () => expect(await history()).to.deep.equal(["Created", ...expected]));
  const jobs = async (): Promise<readonly JobRef[]> => {
    const fired = (await scheduleEventsIn(stage.log)).flatMap(({ tenant, event }) =>
      event.type === "ScheduleFired" ? [{ tenant, jobId: event.data.madeId }] : [],
    );
    return fired;
  };
  const isMade = (job: JobRef) =>
    eventually(async () => expect(await stage.log.readDecisions(job)).to.not.have.lengthOf(0));
  /** The job of the last firing is done. */
  const complete = async (): Promise<void> => {
    const job = (await jobs()).at(-1) as JobRef;
    await isMade(job);
    const own = { run: 1, attempt: 1, worker: "worker-1" };
    const done = counts({ total: 2, sent: 2 });
    const now = stage.clock.now();
    await handleCommand(stage.log, job, { type: "StartJob", at: now, ...own, opening: 0 }, cause);
    await handleCommand(stage.log, job, { type: "CompleteJob", at: now, ...own, counts: done }, cause);
  };

  it("makes the job of its template at each of its times", async () => {
    const schedule = await addSchedule(stage);
    listen();
    stage.clock.move(at("10:04:59"));
    await shows();
    stage.clock.move(at("10:05:00"));
    await shows("Fired 10:05");
    const [job] = await jobs();
    await isMade(job as JobRef);
    const [created] = await stage.log.readDecisions(job as JobRef);
    const [, fired] = await scheduleEventsIn(stage.log);
    expect(created).to.deep.include({ actor: `schedule:${schedule.jobId}`, causationId: fired?.id });
    expect(created?.event.data).to.deep.include({ total: 2, type: "email.send" });
    await complete();
    stage.clock.move(at("10:10:00"));
    await shows("Fired 10:05", "Fired 10:10");
  });

  it("skips times at which the job before has not ended, and records them together", async () => {
    await addSchedule(stage);
    listen();
    stage.clock.move(at("10:05:00"));
    await shows("Fired 10:05");
    stage.clock.move(at("10:10:00"));
    await shows("Fired 10:05", "Skipped 10:10 1 overlap");
    for (const minute of ["15", "20", "25"]) stage.clock.move(at(`10:${minute}:00`));
    await shows("Fired 10:05", "Skipped 10:10 1 overlap");
    await complete();
    await shows("Fired 10:05", "Skipped 10:10 1 overlap", "Skipped 10:25 3 overlap");
    stage.clock.move(at("10:30:00"));
    await shows("Fired 10:05", "Skipped 10:10 1 overlap", "Skipped 10:25 3 overlap", "Fired 10:30");
  });

  it("lets one time wait for the end of the job before, and no more", async () => {
    await addSchedule(stage, { overlap: "queue" });
    listen();
    stage.clock.move(at("10:05:00"));
    await shows("Fired 10:05");
    stage.clock.move(at("10:10:00"));
    await shows("Fired 10:05", "Queued 10:10");
    stage.clock.move(at("10:15:00"));
    await shows("Fired 10:05", "Queued 10:10", "Skipped 10:15 1 overlap");
    stage.clock.move(at("10:17:00"));
    await complete();
    await shows("Fired 10:05", "Queued 10:10", "Skipped 10:15 1 overlap", "Fired 10:10");
    stage.clock.move(at("10:18:00"));
    await complete();
    stage.clock.move(at("10:20:00"));
    await shows("Fired 10:05", "Queued 10:10", "Skipped 10:15 1 overlap", "Fired 10:10", "Fired 10:20");
  });

  it("records the times that passed while no process was there, once", async () => {
    await addSchedule(stage);
    stage.clock.move(at("11:02:00"));
    listen();
    await shows("Skipped 11:00 12 missed");
    stage.clock.move(at("11:05:00"));
    await shows("Skipped 11:00 12 missed", "Fired 11:05");
  });

  it("makes up for the latest of them where it is asked to", async () => {
    await addSchedule(stage, { catchUp: "one" });
    stage.clock.move(at("11:02:00"));
    listen();
    await shows("Skipped 10:55 11 missed", "Fired 11:00");
    await isMade((await jobs())[0] as JobRef);
  });

  it("fires a time that the service was only a moment late for", async () => {
    await addSchedule(stage);
    stage.clock.move(at("10:05:50"));
    listen();
    await shows("Fired 10:05");
  });

  it("fires nothing while it is paused, and makes nothing up", async () => {
    const schedule = await addSchedule(stage, { catchUp: "one" });
    listen();
    await decideSchedule(stage, schedule, { type: "PauseSchedule", at: stage.clock.now(), reason: null });
    await shows("Paused");
    stage.clock.move(at("11:02:00"));
    await decideSchedule(stage, schedule, { type: "ResumeSchedule", at: stage.clock.now(), reason: null });
    stage.clock.move(at("11:05:00"));
    await shows("Paused", "Resumed", "Fired 11:05");
  });

  it("is taken up by another process, also with a job that the first one did not come to make", async () => {
    await addSchedule(stage);
    const broken = { ...stage.contentStore, put: async () => Promise.reject(new Error("The process dies here.")) };
    listen({ ...stage, contentStore: broken });
    stage.clock.move(at("10:05:00"));
    await shows("Fired 10:05");
    await leave();
    const [job] = await jobs();
    expect(await stage.log.readDecisions(job as JobRef)).to.deep.equal([]);
    listen();
    await isMade(job as JobRef);
    await shows("Fired 10:05");
  });

  it("records a firing whose job is refused, and fires the next one", async () => {
    await addSchedule(stage);
    listen({ ...stage, limits: { dailyRecipients: 1 } });
    stage.clock.move(at("10:05:00"));
    await shows("Fired 10:05", "Failed 10:05");
    stage.clock.move(at("10:10:00"));
    await shows("Fired 10:05", "Failed 10:05", "Fired 10:10", "Failed 10:10");
    const failed = (await scheduleEventsIn(stage.log)).at(-1)?.event;
    expect(failed?.data).to.include({ code: "quota-exceeded" });
  });

  it("makes a mailing with the recipients that another one has, and starts it", async () => {
    const source = await draftMailing(stage);
    await importInto(stage, source, people(3));
    const template = { subject: "News", body: "Dear all", recipientsOf: source.jobId };
    await addSchedule(stage, { makes: "mailing" }, template);
    listen();
    stage.clock.move(at("10:05:00"));
    await shows("Fired 10:05");
    const [mailing] = await jobs();
    await eventually(async () => expect((await stateOf(stage, mailing as JobRef)).status).to.equal("started"));
    const { parts } = await stateOf(stage, mailing as JobRef);
    expect(parts.reduce((sum, { recipients }) => sum + recipients, 0)).to.equal(3);
  });

  it("fails a mailing that nobody would get, and leaves no draft of it", async () => {
    const source = await draftMailing(stage);
    const template = { subject: "News", body: "Dear all", recipientsOf: source.jobId };
    await addSchedule(stage, { makes: "mailing" }, template);
    listen();
    stage.clock.move(at("10:05:00"));
    await shows("Fired 10:05", "Failed 10:05");
    const failed = (await scheduleEventsIn(stage.log)).at(-1)?.event;
    expect(failed?.data).to.include({ code: "mailing-is-empty" });
    const [mailing] = await jobs();
    await eventually(async () => expect((await stateOf(stage, mailing as JobRef)).status).to.equal("cancelled"));
  });

  for (let seed = 1; seed <= 20; seed += 1) {
    it(`makes one job for each time, though two believe to be the one, and die at any step (seed ${seed})`, async () => {
      await addSchedule(stage, { overlap: seed % 2 === 0 ? "skip" : "queue", catchUp: "one" });
      const random = randomOf(seed);
      const dying = (): ScheduleStage => dyingAt(stage, 1 + Math.floor(random() * 25));
      const other = createMemoryCheckpointStore();
      for (let minute = 5; minute <= 30; minute += 5) {
        const [one, two] = [followSchedules(dying(), checkpoints), followSchedules(dying(), other)];
        stage.clock.move(at(`10:${String(minute).padStart(2, "0")}:00`));
        await eventually(async () => {
          const decided = (await history()).length;
          await new Promise((resolve) => setTimeout(resolve, 10));
          expect((await history()).length).to.equal(decided);
        });
        await Promise.all([one.stop(1), two.stop(1)]);
        if ((await jobs()).length > 0) {
          const survivor = followSchedules(stage, checkpoints);
          await isMade((await jobs()).at(-1) as JobRef);
          await complete();
          await survivor.stop();
        }
      }
      listen();
      stage.clock.move(at("10:31:30"));
      await eventually(async () => {
        const made = await jobs();
        expect(new Set(made.map(({ jobId }) => jobId)).size).to.equal(made.length);
        for (const job of made) {
          const created = (await stage.log.readDecisions(job)).filter(({ event }) => event.type === "JobCreated");
          expect(created).to.have.lengthOf(1);
        }
        expect((await jobsOf()).size).to.equal(made.length);
      });
      const times = (await history()).filter((line) => line.startsWith("Fired"));
      expect(new Set(times).size).to.equal(times.length);
      expect(times.length).to.be.greaterThan(0);
    });
  }

  /** Every job in the log, whoever made it. */
  async function jobsOf(): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    const { lastSequence } = await stage.log.state();
    for await (const batch of stage.log.follow({
      afterSequence: 0,
      maxEvents: 500,
      signal: new AbortController().signal,
    })) {
      for (const event of batch) if (isOfJob(event) && event.event.type === "JobCreated") found.add(event.jobId);
      if ((batch.at(-1)?.sequence ?? 0) >= lastSequence) break;
    }
    return found;
  }
});

/** From 0 to below 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** A process that dies before or after its n-th request: nothing that it asks for from then on is done. */
function dyingAt(stage: ScheduleStage, step: number): ScheduleStage {
  let steps = 0;
  const dead = new Error("The process is dead.");
  const counted =
    <Given extends readonly unknown[], Result>(ask: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      steps += 1;
      if (steps > step) throw dead;
      const result = await ask(...given);
      steps += 1;
      if (steps > step) throw dead;
      return result;
    };
  const { log, contentStore } = stage;
  return {
    ...stage,
    log: {
      ...log,
      append: counted(log.append),
      readSchedule: counted(log.readSchedule),
      readDecisions: counted(log.readDecisions),
    },
    contentStore: { ...contentStore, put: counted(contentStore.put), get: counted(contentStore.get) },
  };
}
