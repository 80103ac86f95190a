import { expect } from "chai";
import { v7 as uuid } from "uuid";
import { handleCommand, handleScheduleCommand } from "../../src/commands/handle-command.ts";
import type { JobEvent } from "../../src/domain/job/events.ts";
import { encodeEntry } from "../../src/event-log/encode-entry.ts";
import type { JobRef, LogEvent, NewEvent } from "../../src/event-log/event-log.ts";
import { examineMessage, recordPass } from "../../src/event-log/jetstream-odd-messages.ts";
import { UndecodableEvent, VersionConflict } from "../../src/event-log/log-failures.ts";
import { caused, jobCreated, jobPaused, recipientSent } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { followFrom, readOn } from "../support/following.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { addSchedule, createClock } from "../support/schedule-followers.ts";
import { startNats, type TestNats } from "../support/services.ts";

const exampleTime = "2026-11-21T09:30:00.000Z";

describe("a message in the log that this release did not write", () => {
  let nats: TestNats;
  let opened: OpenedLog;
  let job: JobRef;
  let created: number;
  let prefix: string;

  before(async () => {
    nats = await startNats();
  });

  after(() => nats.cleanUp());

  beforeEach(async () => {
    prefix = `${nats.prefix}${uuid().slice(-12)}`;
    opened = await openJetStreamLog(nats.config, prefix);
    job = { tenant: "default", jobId: uuid() };
    created = await opened.log.append(job, [caused(uuid(), jobCreated())], 0);
  });

  afterEach(() => opened.close());

  /** Puts a message into the log as another program would. */
  const plant = async (channel: string, message: unknown): Promise<number> => {
    const subject = `${prefix}.jobs.${job.tenant}.${job.jobId}${channel}`;
    const body = JSON.stringify(typeof message === "string" ? message : [message]);
    const { seq } = await opened.connection.nats.jetstream().publish(subject, body);
    return seq;
  };

  /** A pause with some of its attributes changed. */
  const changed = (attributes: object): object => ({
    ...JSON.parse(Buffer.from(encodeEntry(job, [caused(uuid(), jobPaused())])).toString())[0],
    ...attributes,
  });

  const passBy = async (planted: number): Promise<void> => {
    const { subject = "", sha256 = "" } = (await examineMessage(opened.connection, prefix, planted)) ?? {};
    const decision = { sequence: planted, subject, sha256, fault: "odd", reason: "planted" };
    await recordPass(opened.connection, prefix, opened.log, { ...decision, actor: "cli:test", at: exampleTime });
  };

  const opening = () => changed({ type: "JobOpened", dataschema: "urn:waybill:event:JobOpened:1" });

  /** Everything that is handed out, and what it ends with. */
  const followToFailure = async (): Promise<{ read: readonly LogEvent[]; failure: unknown }> => {
    const read: LogEvent[] = [];
    const following = followFrom(opened.log, 0);
    const reading = async (): Promise<void> => {
      for await (const batch of following.batches) read.push(...batch);
    };
    return { read, failure: await failureOf(reading()) };
  };

  it("is handed on by the name of its type where that is not known, and the rest goes on", async () => {
    const unknown = await plant("", opening());
    const notice = await plant(".facts", changed({ type: "NoticeRead", dataschema: "urn:waybill:event:NoticeRead:1" }));
    const sent = await opened.log.record(job, [caused(uuid(), recipientSent())]);
    const entries = await readOn(opened.log, created, (read) => read.length === 3);
    expect(entries.slice(0, 2)).to.deep.equal([
      { ...job, sequence: unknown, index: 0, unknownType: "JobOpened" },
      { ...job, sequence: notice, index: 0, unknownType: "NoticeRead" },
    ]);
    expect(entries[2]).to.deep.include({ sequence: sent });
  });

  it("counts as a decision where it stands among them, though it cannot be decoded", async () => {
    const unknown = await plant("", opening());
    expect(await opened.log.lastDecision(job)).to.equal(unknown);
    expect((await opened.log.readDecisions(job)).map(({ sequence }) => sequence)).to.deep.equal([created]);
    expect(await opened.log.append(job, [caused(uuid(), jobPaused())], unknown)).to.be.greaterThan(unknown);
  });

  const broken: Readonly<Record<string, [channel: string, message: () => unknown]>> = {
    "data that breaks its schema": ["", () => changed({ data: { reason: 7 } })],
    "a newer version of a known type": ["", () => changed({ dataschema: "urn:waybill:event:JobPaused:2" })],
    "a known type on a subject of others": [".facts", () => changed({})],
    "no event at all": ["", () => "hello"],
    "a subject of no channel": [".orders", () => changed({})],
  };
  for (const [what, [channel, message]] of Object.entries(broken)) {
    it(`stops a follower when its turn comes, and not before: ${what}`, async () => {
      const sent = await opened.log.record(job, [caused(uuid(), recipientSent())]);
      const planted = await plant(channel, message());
      await opened.log.record(job, [caused(uuid(), recipientSent())]);
      const { read, failure } = await followToFailure();
      expect(read.map(({ sequence }) => sequence)).to.deep.equal([created, sent]);
      expect(failure).to.be.instanceOf(UndecodableEvent).and.to.include({ sequence: planted });
    });
  }

  for (const [what, [channel, message]] of Object.entries(broken)) {
    it(`is passed by where that was decided of just this message, and of no other: ${what}`, async () => {
      const planted = await plant(channel, message());
      const { subject = "", sha256 = "" } = (await examineMessage(opened.connection, prefix, planted)) ?? {};
      const decision = {
        sequence: planted,
        subject,
        fault: "odd",
        reason: "planted",
        actor: "cli:test",
        at: exampleTime,
      };
      const decide = (digest: string) =>
        recordPass(opened.connection, prefix, opened.log, { ...decision, sha256: digest });
      await decide("0".repeat(64));
      expect((await followToFailure()).failure).to.include({ sequence: planted });
      await decide(sha256);
      const entries = await readOn(opened.log, created, (read) => read.length === 3);
      expect(entries[0]).to.deep.include({ sequence: planted, unknownType: "undecodable" });
      expect((await opened.log.readDecisions(job)).map(({ sequence }) => sequence)).to.deep.equal([created]);
    });
  }

  it("holds up no decision about its job once it was passed by, be it the last of its subject", async () => {
    const pause = (): NewEvent<JobEvent> => caused(uuid(), jobPaused());
    const first = await plant("", "hello");
    expect(await failureOf(opened.log.append(job, [pause()], created))).to.be.instanceOf(VersionConflict);
    await passBy(first);
    const paused = await opened.log.append(job, [pause()], created);
    for (const message of ["hello", "hello again"]) await passBy(await plant("", message));
    // A writer that has not seen the last decision is refused as ever.
    expect(await failureOf(opened.log.append(job, [pause()], created))).to.be.instanceOf(VersionConflict);
    const cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };
    const command = { type: "ResumeJob", at: exampleTime, reason: null } as const;
    const { outcome, sequence } = await handleCommand(opened.log, job, command, cause, { maxConflicts: 0 });
    expect(outcome).to.equal("accepted");
    const decided = (await opened.log.readDecisions(job)).map(({ sequence }) => sequence);
    expect(decided).to.deep.equal([created, paused, sequence]);
  });

  it("allows no decision past one of a newer release", async () => {
    await plant("", opening());
    const pausing = opened.log.append(job, [caused(uuid(), jobPaused())], created);
    expect(await failureOf(pausing)).to.be.instanceOf(VersionConflict);
  });

  it("is passed by also where it stands among the decisions to pass by", async () => {
    const { seq: planted } = await opened.connection.nats
      .jetstream()
      .publish(`${prefix}.jobs._service.log.pass`, JSON.stringify("hello"));
    await passBy(planted);
    const entries = await readOn(opened.log, created, (read) => read.length === 2);
    expect(entries[0]).to.deep.include({ sequence: planted, unknownType: "undecodable" });
  });

  it("hides no schedule, be it passed by or of a type that only a newer release knows", async () => {
    const contentStore = createMemoryContentStore();
    const schedule = await addSchedule({ ...opened, contentStore, clock: createClock(exampleTime) });
    job = schedule;
    const made = (await opened.log.readSchedule(schedule))?.sequence;
    const planted = await plant(".schedule", "hello");
    expect(await failureOf(opened.log.readSchedule(schedule)))
      .to.be.instanceOf(UndecodableEvent)
      .and.to.include({ sequence: planted });
    await passBy(planted);
    expect((await opened.log.readSchedule(schedule))?.sequence).to.equal(made);
    const paused = { type: "PauseSchedule", at: exampleTime, reason: null } as const;
    const cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };
    const { outcome, sequence } = await handleScheduleCommand(opened.log, schedule, paused, cause);
    expect(outcome).to.equal("accepted");
    await plant(".schedule", changed({ type: "ScheduleMoved", dataschema: "urn:waybill:event:ScheduleMoved:1" }));
    expect((await opened.log.readSchedule(schedule))?.sequence).to.equal(sequence);
  });

  it("stops a reader of the job where it cannot be decoded", async () => {
    const planted = await plant("", changed({ data: {} }));
    for (const read of [opened.log.readDecisions(job), opened.log.readHistory(job)]) {
      expect(await failureOf(read))
        .to.be.instanceOf(UndecodableEvent)
        .and.to.include({ sequence: planted });
    }
  });
});
