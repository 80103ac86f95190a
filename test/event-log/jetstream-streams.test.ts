import { expect } from "chai";
import type { JetStreamManager, StreamConfig } from "nats";
import { v7 as uuid } from "uuid";
import { UnfitStream } from "../../src/event-log/jetstream-streams.ts";
import { LogFull } from "../../src/event-log/log-failures.ts";
import { caused, job, jobCreated, jobPaused } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startNats, type TestNats } from "../support/services.ts";

const jobs = (prefix: string): string => `${prefix}_JOBS`;
const twoMinutes = 120 * 1_000_000_000;

describe("the streams of the log", () => {
  let nats: TestNats;
  let opened: OpenedLog;
  let admin: JetStreamManager;

  before(async () => {
    nats = await startNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
    admin = await opened.connection.nats.jetstreamManager();
  });

  after(async () => {
    await opened.close();
    await nats.cleanUp();
  });

  const configOf = async (name: string): Promise<StreamConfig> => (await admin.streams.info(name)).config;

  it("hold the events on disk without an end, unless they are too many for their limit", async () => {
    const config = await configOf(jobs(nats.prefix));
    expect(config).to.deep.include({
      subjects: [`${nats.prefix}.jobs.>`],
      storage: "file",
      retention: "limits",
      discard: "new",
      max_age: 0,
      max_bytes: -1,
      max_msgs: -1,
      max_msgs_per_subject: -1,
      num_replicas: 1,
      duplicate_window: twoMinutes,
      deny_delete: true,
      deny_purge: true,
    });
    expect(config.allow_direct ?? false).to.equal(false);
    expect(config.allow_rollup_hdrs ?? false).to.equal(false);
    expect(config.mirror ?? config.republish ?? null).to.equal(null);
  });

  it("hold one content a job, which can be erased", async () => {
    const config = await configOf(`${nats.prefix}_CONTENT`);
    expect(config).to.deep.include({
      subjects: [`${nats.prefix}.content.>`],
      storage: "file",
      retention: "limits",
      discard: "new",
      max_age: 0,
      max_msgs_per_subject: 2,
      num_replicas: 1,
    });
    expect(config.deny_delete ?? false).to.equal(false);
    expect(config.deny_purge ?? false).to.equal(false);
    expect(config.allow_direct).to.equal(true);
  });

  it("refuse to remove an event, or all of them", async () => {
    const sequence = await opened.log.append(job, [caused(uuid(), jobCreated())], 0);
    const name = jobs(nats.prefix);
    for (const erase of [true, false]) {
      const failure = await failureOf(admin.streams.deleteMessage(name, sequence, erase));
      expect(String(failure)).to.include("message delete not permitted");
    }
    for (const what of [undefined, { seq: sequence + 1 }, { keep: 0 }, { filter: `${nats.prefix}.jobs.>` }]) {
      expect(String(await failureOf(admin.streams.purge(name, what)))).to.include("purge not permitted");
    }
    for (const softer of [{ deny_delete: false }, { deny_purge: false }]) {
      const failure = await failureOf(admin.streams.update(name, { ...(await configOf(name)), ...softer }));
      expect(String(failure)).to.include("can not cancel");
    }
    expect(await opened.log.lastDecision(job)).to.equal(sequence);
  });

  it("hold each event as a message that any subscriber can read", async () => {
    const subject = `${nats.prefix}.jobs.default.${job.jobId}`;
    const paused = caused("paused-1", jobPaused({ reason: "wrong list" }));
    await opened.log.append(job, [paused], await opened.log.lastDecision(job));
    const message = await admin.streams.getMessage(jobs(nats.prefix), { last_by_subj: subject });
    expect(message.header.get("Content-Type")).to.equal("application/cloudevents-batch+json");
    expect(message.header.get("Nats-Msg-Id")).to.equal("paused-1");
    expect((message.json() as unknown[])[0]).to.deep.include({
      specversion: "1.0",
      id: "paused-1",
      type: "JobPaused",
      subject: job.jobId,
      data: { reason: "wrong list" },
    });
  });

  it("are left as they are by another start, whose limit is taken over if it has one", async () => {
    const { lastSequence } = await opened.log.state();
    expect((await configOf(jobs(nats.prefix))).max_bytes).to.equal(-1);
    await (await openJetStreamLog(nats.config, nats.prefix, { maxBytes: 5_000_000 })).close();
    expect((await configOf(jobs(nats.prefix))).max_bytes).to.equal(5_000_000);
    await (await openJetStreamLog(nats.config, nats.prefix)).close();
    expect((await configOf(jobs(nats.prefix))).max_bytes).to.equal(5_000_000);
    expect((await opened.log.state()).lastSequence).to.equal(lastSequence);
  });

  it("refuse a limit that is below their size: NATS 2.9 would drop the oldest events", async () => {
    const { messages } = (await admin.streams.info(jobs(nats.prefix))).state;
    const failure = await failureOf(openJetStreamLog(nats.config, nats.prefix, { maxBytes: 100 }));
    expect(failure).to.be.instanceOf(UnfitStream);
    expect((await admin.streams.info(jobs(nats.prefix))).state.messages).to.equal(messages);
  });

  it("refuse events that they have no room for, and keep those they have", async () => {
    const prefix = `${nats.prefix}full`;
    const { log, close } = await openJetStreamLog(nats.config, prefix, { maxBytes: 8192 });
    let last = 0;
    const fill = async (): Promise<void> => {
      for (;;) last = await log.append(job, [caused(uuid(), jobPaused())], last);
    };
    expect(await failureOf(fill())).to.be.instanceOf(LogFull);
    expect(last).to.be.greaterThan(5);
    expect(await log.lastDecision(job)).to.equal(last);
    expect(await log.readDecisions(job)).to.have.length(last);
    await close();
  });

  describe("when they were made otherwise", () => {
    const wrong: Readonly<
      Record<string, [stream: "JOBS" | "CONTENT", setting: Partial<StreamConfig>, message: string]>
    > = {
      "events that end after a day": ["JOBS", { max_age: 86_400_000_000_000 }, "max_age is 86400000000000; expected 0"],
      "events that can be deleted": ["JOBS", { deny_delete: false }, "deny_delete is"],
      "events that can be purged": ["JOBS", { deny_purge: false }, "deny_purge is"],
      // The client's enums, by the words that the server has for them.
      "events that make room for others": ["JOBS", { discard: "old" as never }, 'discard is "old"; expected "new"'],
      "events that are gone once read": ["JOBS", { retention: "interest" as never }, "retention is"],
      "events in memory only": ["JOBS", { storage: "memory" as never }, "storage is"],
      "a limit of events": ["JOBS", { max_msgs: 1000 }, "max_msgs is 1000"],
      "a limit of events of a job": ["JOBS", { max_msgs_per_subject: 10 }, "max_msgs_per_subject is 10"],
      "answers from replicas": ["JOBS", { allow_direct: true }, "allow_direct is true"],
      "another window for duplicates": ["JOBS", { duplicate_window: 1_000_000_000 }, "duplicate_window is"],
      "a part of the subjects": ["JOBS", { subjects: ["SUBJECT"] }, "subjects is"],
      "many contents a job": ["CONTENT", { max_msgs_per_subject: -1 }, "max_msgs_per_subject is -1"],
      "contents that end after a day": ["CONTENT", { max_age: 86_400_000_000_000 }, "max_age is"],
    };
    let count = 0;
    for (const [what, [stream, setting, message]] of Object.entries(wrong)) {
      it(`stop the start: ${what}`, async () => {
        count += 1;
        const prefix = `${nats.prefix}w${count}`;
        await (await openJetStreamLog(nats.config, `${prefix}good`)).close();
        const good = await configOf(`${prefix}good_${stream}`);
        const subjects = good.subjects.map((subject) => subject.replace(`${prefix}good`, prefix));
        const name = `${prefix}_${stream}`;
        await admin.streams.add({ ...good, subjects, ...forPrefix(setting, prefix), name });
        const failure = await failureOf(openJetStreamLog(nats.config, prefix));
        expect(failure).to.be.instanceOf(UnfitStream);
        expect(String(failure)).to.include(`The stream ${name} breaks a promise`).and.to.include(message);
      });
    }

    const forPrefix = (setting: Partial<StreamConfig>, prefix: string): Partial<StreamConfig> =>
      setting.subjects === undefined ? setting : { subjects: [`${prefix}.jobs.*.*`] };
  });
});
