import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { decodeContent, digestOf } from "../../../src/content/encode-content.ts";
import { withoutRecipients } from "../../../src/erasure/complete-erasure.ts";
import { type EventLog, type JobRef, keyOf } from "../../../src/event-log/event-log.ts";
import type { Listening } from "../../../src/event-log/following/active-process.ts";
import type { CheckpointStore } from "../../../src/event-log/following/checkpoint-store.ts";
import { positionIn } from "../../../src/event-log/following/hold-checkpoint.ts";
import { UndecodableEvent } from "../../../src/event-log/log-failures.ts";
import { createScheduleListener } from "../../../src/mailings/schedules/follow-schedules.ts";
import { eventually } from "../../support/eventually.ts";
import { cause, decide, draftMailing, importerOf, importInto, people, stateOf } from "../../support/mailings.ts";
import { createMemoryCheckpointStore } from "../../support/memory/memory-checkpoint-store.ts";
import { createMemoryContentStore } from "../../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../../support/memory/memory-event-log.ts";
import { createMemoryTemplateStore } from "../../support/memory/memory-template-store.ts";
import {
  addSchedule,
  changeSchedule,
  completeLast,
  createClock,
  decideSchedule,
  firedBy,
  followSchedules,
  historyOf,
  isMade,
  jobsIn,
  letter,
  portsOf,
  type ScheduleStage,
  scheduleEventsIn,
} from "../../support/schedule-followers.ts";

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
  const shows = (...expected: readonly string[]) =>
    eventually(async () => expect(await historyOf(stage)).to.deep.equal(["Created", ...expected]));

  it("makes the job of its template at each of its times", async () => {
    const schedule = await addSchedule(stage);
    listen();
    stage.clock.move(at("10:04:59"));
    await shows();
    stage.clock.move(at("10:05:00"));
    await shows("Fired 10:05");
    const [job] = await firedBy(stage);
    await isMade(stage, job as JobRef);
    const [created] = await stage.log.readDecisions(job as JobRef);
    const [, fired] = await scheduleEventsIn(stage.log);
    expect(created).to.deep.include({ actor: `schedule:${schedule.jobId}`, causationId: fired?.id });
    expect(created?.event.data).to.deep.include({ total: 2, type: "email.send" });
    await completeLast(stage);
    stage.clock.move(at("10:10:00"));
    await shows("Fired 10:05", "Fired 10:10");
  });

  it("forgets none of many where a process is stopped while it takes them up", async () => {
    const schedules: JobRef[] = [];
    while (schedules.length < 70) schedules.push(await addSchedule(stage));
    let read = 0;
    const readSchedule: EventLog["readSchedule"] = async (schedule) => {
      read += 1;
      await pause(20);
      return await stage.log.readSchedule(schedule);
    };
    listen();
    await eventually(async () => {
      const checkpoint = await checkpoints.read("schedules");
      expect(positionIn(checkpoint?.text ?? "")?.unfinished).to.have.lengthOf(schedules.length);
    });
    await leave();
    listen({ ...stage, log: { ...stage.log, readSchedule } });
    await eventually(() => expect(read).to.be.above(0));
    await leave();
    expect(read).to.be.below(schedules.length);
    listen();
    stage.clock.move(at("10:05:00"));
    await eventually(async () => {
      const fired = (await scheduleEventsIn(stage.log)).filter(({ event }) => event.type === "ScheduleFired");
      expect(fired).to.have.lengthOf(schedules.length);
    });
  });

  it("goes by the rules of the present, though its process stood still while they were changed", async () => {
    const limits = { senders: ["old.example"] };
    const refreshRules = async () => {
      limits.senders = ["new.example"];
    };
    await addSchedule(stage, {}, { ...letter, from: "news@new.example" });
    await addSchedule({ ...stage, tenant: "other" }, {}, { ...letter, from: "news@old.example" });
    listen({ ...stage, limits, refreshRules });
    stage.clock.move(at("10:05:00"));
    const made = await eventually(async () => {
      const failed = (await scheduleEventsIn(stage.log)).filter(({ event }) => event.type === "ScheduleFailed");
      expect(failed.map(({ tenant }) => tenant)).to.deep.equal(["other"]);
      return (await firedBy(stage)).find(({ tenant }) => tenant === "default");
    });
    await isMade(stage, made as JobRef);
  });

  it("makes those of other tenants while a tenant's many take long to make", async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const { contentStore } = stage;
    const get: typeof contentStore.get = async (job) => {
      if (job.tenant === "slow") await held;
      return await contentStore.get(job);
    };
    for (let count = 0; count < 60; count += 1) await addSchedule({ ...stage, tenant: "slow" });
    listen({ ...stage, contentStore: { ...contentStore, get } });
    stage.clock.move(at("10:05:00"));
    await eventually(async () => expect(await firedBy(stage)).to.have.length(60));
    await addSchedule({ ...stage, tenant: "other" });
    stage.clock.move(at("10:10:00"));
    const other = eventually(async () => {
      const found = (await firedBy(stage)).find(({ tenant }) => tenant === "other");
      expect(await stage.log.readDecisions(found as JobRef)).to.have.length(1);
    });
    await other.finally(release);
    for (const job of await firedBy(stage)) await isMade(stage, job);
  });

  it("makes the jobs of a third tenant, and its mailings, while the many mailings of two others take long to copy", async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const { contentStore } = stage;
    const get: typeof contentStore.get = async (job) => {
      if (job.tenant.startsWith("slow")) await held;
      return await contentStore.get(job);
    };
    for (const tenant of ["slow1", "slow2", "other"]) {
      const source = await draftMailing(stage, tenant);
      await importInto(stage, source, people(3));
      for (let count = 0; count < (tenant === "other" ? 1 : 30); count += 1) {
        await addSchedule({ ...stage, tenant }, { makes: "mailing" }, newsTo(source));
      }
    }
    await addSchedule({ ...stage, tenant: "other" });
    listen({ ...stage, contentStore: { ...contentStore, get } });
    stage.clock.move(at("10:05:00"));
    const others = eventually(async () => {
      const found = (await firedBy(stage)).filter(({ tenant }) => tenant === "other");
      expect(found).to.have.lengthOf(2);
      const made = await Promise.all(
        found.map((ref) => Promise.all([stage.log.readDecisions(ref), stage.log.readMailing(ref)])),
      );
      expect(made.filter((decisions) => decisions.flat().length > 0)).to.have.lengthOf(2);
    });
    await others.finally(release);
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
    await completeLast(stage);
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
    await completeLast(stage);
    await shows("Fired 10:05", "Queued 10:10", "Skipped 10:15 1 overlap", "Fired 10:10");
    stage.clock.move(at("10:18:00"));
    await completeLast(stage);
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
    await isMade(stage, (await firedBy(stage))[0] as JobRef);
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
    const [job] = await firedBy(stage);
    expect(await stage.log.readDecisions(job as JobRef)).to.deep.equal([]);
    listen();
    await isMade(stage, job as JobRef);
    await shows("Fired 10:05");
  });

  it("fires the others while one cannot be read, and that one too once it can", async () => {
    const broken = await addSchedule(stage);
    await addSchedule({ ...stage, tenant: "other" });
    listen();
    await eventually(async () => expect((await checkpoints.read("schedules"))?.text).to.include(broken.jobId));
    await leave();
    let isBroken = true;
    const readSchedule: typeof stage.log.readSchedule = async (ref) => {
      if (isBroken && ref.jobId === broken.jobId) throw new UndecodableEvent(7, "it is none");
      return await stage.log.readSchedule(ref);
    };
    listen({ ...stage, log: { ...stage.log, readSchedule } });
    stage.clock.move(at("10:05:00"));
    await eventually(async () => expect(await jobsIn(stage.log)).to.have.lengthOf(1));
    expect((await firedBy(stage)).map(({ tenant }) => tenant)).to.deep.equal(["other"]);
    isBroken = false;
    await eventually(async () => expect(await jobsIn(stage.log)).to.have.lengthOf(2));
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

  it("leaves what it has made when it is deleted", async () => {
    const schedule = await addSchedule(stage);
    listen();
    stage.clock.move(at("10:05:00"));
    await shows("Fired 10:05");
    const [job] = await firedBy(stage);
    await isMade(stage, job as JobRef);
    await decideSchedule(stage, schedule, { type: "DeleteSchedule", at: at("10:06:00"), reason: null });
    stage.clock.move(at("10:10:00"));
    await shows("Fired 10:05", "Deleted");
    expect(await stage.contentStore.get(job as JobRef)).not.to.equal(null);
    expect((await stage.log.readDecisions(job as JobRef)).map(({ event }) => event.type)).to.deep.equal(["JobCreated"]);
  });

  it("makes a mailing with the recipients that another one has, and starts it", async () => {
    const source = await draftMailing(stage);
    await importInto(stage, source, people(3));
    const template = { subject: "News", body: "Dear all", recipientsOf: source.jobId };
    await addSchedule(stage, { makes: "mailing" }, template);
    listen();
    stage.clock.move(at("10:05:00"));
    await shows("Fired 10:05");
    const [mailing] = await firedBy(stage);
    await eventually(async () => expect((await stateOf(stage, mailing as JobRef)).status).to.equal("started"));
    const { parts } = await stateOf(stage, mailing as JobRef);
    expect(parts.reduce((sum, { recipients }) => sum + recipients, 0)).to.equal(3);
  });

  it("fires once it makes mailings in place of jobs, also in a process that did not see the last job end", async () => {
    const source = await draftMailing(stage);
    await importInto(stage, source, people(3));
    const schedule = await addSchedule(stage);
    listen();
    stage.clock.move(at("10:05:00"));
    await completeLastOf("Fired 10:05");
    await leave();
    await changeSchedule(
      stage,
      schedule,
      { makes: "mailing" },
      { subject: "News", body: "Dear all", recipientsOf: source.jobId },
    );
    listen();
    stage.clock.move(at("10:10:00"));
    await shows("Fired 10:05", "Changed", "Fired 10:10");
    const mailing = (await firedBy(stage)).at(-1);
    await eventually(async () => expect((await stateOf(stage, mailing as JobRef)).status).to.equal("started"));
  });

  it("fails no firing whose job was made, where it makes mailings by the time that it hears of it again", async () => {
    const source = await draftMailing(stage);
    await importInto(stage, source, people(3));
    const schedule = await addSchedule(stage);
    listen();
    stage.clock.move(at("10:05:00"));
    await shows("Fired 10:05");
    await isMade(stage, (await firedBy(stage))[0] as JobRef);
    await leave();
    await changeSchedule(stage, schedule, { makes: "mailing" }, newsTo(source));
    await hearAgain(schedule);
    await shows("Fired 10:05", "Changed");
  });

  it("fails no firing whose mailing was started, where it makes jobs by the time that it hears of it again", async () => {
    const source = await draftMailing(stage);
    await importInto(stage, source, people(3));
    const schedule = await addSchedule(stage, { makes: "mailing" }, newsTo(source));
    listen();
    stage.clock.move(at("10:05:00"));
    await shows("Fired 10:05");
    const [mailing] = await firedBy(stage);
    await eventually(async () => expect((await stateOf(stage, mailing as JobRef)).status).to.equal("started"));
    await leave();
    await changeSchedule(stage, schedule, { makes: "job" }, letter);
    await hearAgain(schedule);
    await shows("Fired 10:05", "Changed");
  });

  it("leaves no draft of a mailing that it was making when it was changed to make jobs", async () => {
    const source = await draftMailing(stage);
    await importInto(stage, source, people(3));
    const schedule = await addSchedule(stage, { makes: "mailing" }, newsTo(source));
    const mailing = await diesBeforeItStarts();
    await changeSchedule(stage, schedule, { makes: "job" }, letter);
    await hearAgain(schedule);
    await shows("Fired 10:05", "Changed", "Failed 10:05");
    expect((await stateOf(stage, mailing)).status).to.equal("cancelled");
  });

  it("sends no letter to recipients for whom it was not meant, where it was changed in the midst of making a mailing", async () => {
    const source = await draftMailing(stage);
    await importInto(stage, source, people(3));
    const schedule = await addSchedule(stage, { makes: "mailing" }, newsTo(source));
    const mailing = await diesBeforeItStarts();
    const other = await draftMailing(stage);
    await importInto(stage, other, people(2, 10));
    await changeSchedule(stage, schedule, { makes: "mailing" }, newsTo(other));
    await hearAgain(schedule);
    await shows("Fired 10:05", "Changed", "Failed 10:05");
    expect((await scheduleEventsIn(stage.log)).at(-1)?.event.data).to.include({ code: "schedule-changed" });
    const { status, parts } = await stateOf(stage, mailing);
    expect([status, parts.map(({ recipients }) => recipients)]).to.deep.equal(["cancelled", [3]]);
  });

  it("leaves out of a mailing who was erased from the other one", async () => {
    const source = await draftMailing(stage);
    await importInto(stage, source, people(3));
    const [{ jobId = "" } = {}] = (await stateOf(stage, source)).parts;
    await stage.contentStore.rewrite({ ...source, jobId }, (content) => withoutRecipients(content, [1]));
    await addSchedule(stage, { makes: "mailing" }, { subject: "News", body: "Dear all", recipientsOf: source.jobId });
    listen();
    stage.clock.move(at("10:05:00"));
    await shows("Fired 10:05");
    const [mailing] = await firedBy(stage);
    await eventually(async () => expect((await stateOf(stage, mailing as JobRef)).status).to.equal("started"));
    const { parts } = await stateOf(stage, mailing as JobRef);
    const made = await stage.contentStore.get({ ...source, jobId: parts[0]?.jobId ?? "" });
    const emails = decodeContent(made ?? new Uint8Array()).recipients.map((one) => one?.email);
    expect(emails).to.deep.equal([people(3)[0], people(3)[2]]);
  });

  it("fails a mailing whose letter cannot be filled in for each of its recipients, and leaves no draft of it", async () => {
    const source = await draftMailing(stage);
    const file = [{ email: "ada@example.com", variables: { city: "Bern" } }, { email: "bob@example.com" }];
    const lines = file.map((one) => `${JSON.stringify(one)}\n`);
    const chunks = (async function* () {
      yield Buffer.from(lines.join(""));
    })();
    await importerOf(stage).import(source, { type: "application/x-ndjson", chunks }, cause);
    const template = { subject: "News from {{city}}", body: "Dear all", recipientsOf: source.jobId };
    await addSchedule(stage, { makes: "mailing" }, template);
    listen();
    stage.clock.move(at("10:05:00"));
    await shows("Fired 10:05", "Failed 10:05");
    const failed = (await scheduleEventsIn(stage.log)).at(-1)?.event;
    expect(failed?.data).to.deep.include({ code: "validation-failed", places: ["/recipientsOf"] });
    const [mailing] = await firedBy(stage);
    await eventually(async () => expect((await stateOf(stage, mailing as JobRef)).status).to.equal("cancelled"));
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
    const [mailing] = await firedBy(stage);
    await eventually(async () => expect((await stateOf(stage, mailing as JobRef)).status).to.equal("cancelled"));
  });

  it("cancels no mailing that it could not start, and that a person starts at that moment", async () => {
    const source = await draftMailing(stage);
    await importInto(stage, source, people(3));
    await addSchedule(stage, { makes: "mailing" }, newsTo(source));
    let [cancels, release] = [0, (): void => {}];
    const started = new Promise<void>((resolve) => (release = resolve));
    const append: EventLog["append"] = async (ref, entry, ...given) => {
      if (entry[0].event.type === "MailingCancelled") {
        cancels += 1;
        await started;
      }
      return await stage.log.append(ref, entry, ...given);
    };
    listen({ ...stage, log: { ...stage.log, append }, limits: { dailyRecipients: 2 } });
    stage.clock.move(at("10:05:00"));
    await eventually(() => expect(cancels).to.equal(1));
    const [mailing] = await firedBy(stage);
    await decide(stage, mailing as JobRef, { type: "StartMailing", at: at("10:05:01"), scheduledAt: null });
    release();
    await leave();
    expect((await stateOf(stage, mailing as JobRef)).status).to.equal("started");
  });

  describe("whose mailing needs an approval", () => {
    const limits = { approvalAbove: 2 };
    let template: object;

    beforeEach(async () => {
      const source = await draftMailing(stage);
      await importInto(stage, source, people(3));
      template = { subject: "News", body: "Dear all", recipientsOf: source.jobId };
    });

    it("lets it wait for one, by another key than that which made the schedule", async () => {
      await addSchedule(stage, { makes: "mailing" }, { ...template }, "key:editor");
      listen({ ...stage, limits });
      stage.clock.move(at("10:05:00"));
      await shows("Fired 10:05");
      const [mailing] = await firedBy(stage);
      await eventually(async () => {
        const { status, approval } = await stateOf(stage, mailing as JobRef);
        expect([status, approval?.requestedBy]).to.deep.equal(["awaiting-approval", "key:editor"]);
      });
      stage.clock.move(at("10:10:00"));
      await shows("Fired 10:05", "Skipped 10:10 1 overlap");
    });

    it("fails it where the schedule was made without a key", async () => {
      await addSchedule(stage, { makes: "mailing" }, { ...template });
      listen({ ...stage, limits });
      stage.clock.move(at("10:05:00"));
      await shows("Fired 10:05", "Failed 10:05");
      const failed = (await scheduleEventsIn(stage.log)).at(-1)?.event;
      expect(failed?.data).to.include({ code: "approval-needs-keys" });
    });
  });

  it("takes the latest version of a template at each firing, and fails once it is archived", async () => {
    const templates = createMemoryTemplateStore();
    const welcome = { tenant: "default", name: "welcome" };
    const put = async (subject: string): Promise<void> => {
      const text = JSON.stringify({ subject, body: "Hello" });
      await templates.put(welcome, { text, sha256: digestOf(text) }, stage.clock.now());
    };
    await put("One");
    await addSchedule(stage, {}, { template: "welcome", recipients: letter.recipients });
    listen({ ...stage, templates });
    stage.clock.move(at("10:05:00"));
    await completeLastOf("Fired 10:05");
    await put("Two");
    stage.clock.move(at("10:10:00"));
    await completeLastOf("Fired 10:05", "Fired 10:10");
    const contents = await Promise.all((await firedBy(stage)).map((job) => stage.contentStore.get(job)));
    expect(contents.map((content) => decodeContent(content ?? new Uint8Array()).subject)).to.deep.equal(["One", "Two"]);
    await templates.archive(welcome, stage.clock.now());
    stage.clock.move(at("10:15:00"));
    await shows("Fired 10:05", "Fired 10:10", "Fired 10:15", "Failed 10:15");
    const failed = (await scheduleEventsIn(stage.log)).at(-1)?.event;
    expect(failed?.data).to.deep.include({ code: "validation-failed", places: ["/template"] });
  });

  const newsTo = ({ jobId }: JobRef) => ({ subject: "News", body: "Dear all", recipientsOf: jobId });
  const completeLastOf = async (...expected: readonly string[]): Promise<void> => {
    await shows(...expected);
    await completeLast(stage);
  };
  /** The first process of a mailing's schedule dies when all but its start is there. */
  const diesBeforeItStarts = async (): Promise<JobRef> => {
    const { append } = stage.log;
    const dying: typeof append = async (ref, entry, guard) => {
      if (entry.some(({ event }) => event.type === "MailingStarted")) throw new Error("The process dies here.");
      return await append(ref, entry, guard);
    };
    listen({ ...stage, log: { ...stage.log, append: dying } });
    stage.clock.move(at("10:05:00"));
    await shows("Fired 10:05");
    const [mailing] = await firedBy(stage);
    await eventually(async () => expect((await stateOf(stage, mailing as JobRef)).parts).to.have.lengthOf(1));
    await leave();
    return mailing as JobRef;
  };
  /** Another process takes the schedule up, and acts on its firing, which the one before it was not done with. */
  const hearAgain = async (schedule: JobRef): Promise<void> => {
    const stopping = new AbortController();
    const ending = { stopping: stopping.signal, givenUp: stopping.signal };
    const listener = createScheduleListener(portsOf(stage));
    await listener.unfinished?.takeUp([keyOf(schedule)], ending);
    const events = await scheduleEventsIn(stage.log);
    const fired = events.find(({ event }) => event.type === "ScheduleFired");
    if (fired === undefined) throw new Error("It has not fired.");
    await listener.act(fired, ending);
    for (const event of await scheduleEventsIn(stage.log)) {
      if (event.event.type === "ScheduleFailed") await listener.act(event, ending);
    }
    stopping.abort();
  };
});
