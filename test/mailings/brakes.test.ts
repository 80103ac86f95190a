import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { weekdays } from "../../src/domain/mailing/window.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import type { Listening } from "../../src/event-log/following/active-process.ts";
import { withClockSet } from "../support/clock.ts";
import { eventually } from "../support/eventually.ts";
import { jobCompleted, jobStarted, now, recipientBounced, recipientComplained } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { followMailings } from "../support/mailing-followers.ts";
import { decide, draftMailing, importInto, people, type Stored, stateOf } from "../support/mailings.ts";
import { createMemoryCheckpointStore } from "../support/memory/memory-checkpoint-store.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

/** One recipient takes 200 ms. */
const rate = 18_000;
const msPerRecipient = 200;

describe("A mailing with brakes", function () {
  this.timeout(30_000);
  let stored: Stored;
  const listenings: Listening[] = [];

  beforeEach(() => {
    stored = { log: createMemoryEventLog(), contentStore: createMemoryContentStore() };
  });
  afterEach(async () => {
    await Promise.all(listenings.splice(0).map((listening) => listening.stop()));
  });

  const listen = (checkpoints = createMemoryCheckpointStore()): Listening => {
    const listening = followMailings(stored, checkpoints, null);
    listenings.push(listening);
    return listening;
  };
  const start = (mailing: JobRef) => decide(stored, mailing, { type: "StartMailing", at: now, scheduledAt: null });
  /** When each of its parts became a job. */
  const madeAt = async (mailing: JobRef): Promise<readonly number[]> => {
    const { parts } = await stateOf(stored, mailing);
    const decisions = await Promise.all(parts.map(({ jobId }) => stored.log.readDecisions({ ...mailing, jobId })));
    return decisions.flatMap(([created]) => (created === undefined ? [] : [Date.parse(created.event.at)]));
  };
  const restsBetween = (times: readonly number[]): readonly number[] =>
    times.slice(1).map((time, index) => time - (times[index] ?? 0));

  it("has parts of what may go in a minute, after the first hour in five, and in a ramp-up larger ones later", async () => {
    const steady = await draftMailing(stored, "default", { rate: 600 });
    await importInto(stored, steady, people(15));
    await importInto(stored, steady, people(35));
    const sizesOf = async (mailing: JobRef) =>
      (await stateOf(stored, mailing)).parts.map(({ recipients }) => recipients);
    expect(await sizesOf(steady)).to.deep.equal([10, 5, 10, 10]);
    const warming = await draftMailing(stored, "default", { rampUp: { firstHour: 120, growth: 3 } });
    await importInto(stored, warming, people(180));
    expect(await sizesOf(warming)).to.deep.equal([...Array.from({ length: 60 }, () => 2), 30, 30]);
  });

  it("makes its parts one after the other, no faster than its rate, whichever process does it", async () => {
    const mailing = await draftMailing(stored, "default", { rate });
    for (let part = 0; part < 8; part += 1) await importInto(stored, mailing, people(1, part));
    const checkpoints = createMemoryCheckpointStore();
    const first = listen(checkpoints);
    await start(mailing);
    await eventually(async () => expect((await madeAt(mailing)).length).to.be.greaterThan(2));
    await first.stop();
    listen(checkpoints);
    await eventually(async () => expect(await madeAt(mailing)).to.have.lengthOf(8), 20_000);
    for (const rest of restsBetween(await madeAt(mailing))) expect(rest).to.be.at.least(msPerRecipient);
  });

  it("makes nothing up after a pause", async () => {
    const mailing = await draftMailing(stored, "default", { rate });
    for (let part = 0; part < 6; part += 1) await importInto(stored, mailing, people(1, part));
    listen();
    await start(mailing);
    await eventually(async () => expect((await madeAt(mailing)).length).to.be.greaterThan(1));
    await decide(stored, mailing, { type: "PauseMailing", at: now, reason: null });
    await pause(msPerRecipient);
    const before = (await madeAt(mailing)).length;
    await pause(5 * msPerRecipient);
    expect(await madeAt(mailing)).to.have.lengthOf(before);
    await decide(stored, mailing, { type: "ResumeMailing", at: now, reason: null });
    await eventually(async () => expect(await madeAt(mailing)).to.have.lengthOf(6), 20_000);
    for (const rest of restsBetween(await madeAt(mailing))) expect(rest).to.be.at.least(msPerRecipient);
  });

  it("goes on at its rate where the clock was set back meanwhile", async () => {
    const mailing = await draftMailing(stored, "default", { rate });
    for (let part = 0; part < 6; part += 1) await importInto(stored, mailing, people(1, part));
    listen();
    await start(mailing);
    await eventually(async () => expect((await madeAt(mailing)).length).to.be.greaterThan(1));
    await withClockSet(-3_600_000, async () => {
      await eventually(async () => expect(await madeAt(mailing)).to.have.lengthOf(6), 10_000);
      for (const rest of restsBetween((await madeAt(mailing)).filter((at) => at < Date.now() + 60_000))) {
        expect(rest).to.be.at.least(msPerRecipient);
      }
    });
  });

  it("waits for its window, and for the time that it was started for", async () => {
    const inThreeDays = weekdays[(new Date().getUTCDay() + 2) % 7] ?? "mon";
    const hours = { from: "00:00", to: "24:00", timeZone: "UTC" };
    const shut = await draftMailing(stored, "default", { window: { days: [inThreeDays], ...hours } });
    const open = await draftMailing(stored, "default", { window: { days: [...weekdays], ...hours } });
    const soon = await draftMailing(stored, "default", { rate: 1_000_000 });
    for (const mailing of [shut, open, soon]) await importInto(stored, mailing, people(3));
    listen();
    const scheduledAt = new Date(Date.now() + 1500).toISOString();
    await decide(stored, soon, { type: "StartMailing", at: new Date().toISOString(), scheduledAt });
    await start(shut);
    await start(open);
    await eventually(async () => expect(await madeAt(open)).to.have.lengthOf(1));
    expect(await madeAt(soon)).to.deep.equal([]);
    await eventually(async () => expect(await madeAt(soon)).to.have.lengthOf(1), 10_000);
    expect((await madeAt(soon))[0]).to.be.at.least(Date.parse(scheduledAt));
    expect(await madeAt(shut)).to.deep.equal([]);
  });
});

describe("A mailing that stops for what comes back", function () {
  this.timeout(30_000);
  let stored: Stored;
  const listenings: Listening[] = [];
  beforeEach(() => {
    stored = { log: createMemoryEventLog(), contentStore: createMemoryContentStore() };
  });
  afterEach(async () => {
    await Promise.all(listenings.splice(0).map((listening) => listening.stop()));
  });

  /** Three parts of ten recipients each; the first two are jobs that have ended, and all of their mails were sent. */
  const halfSent = async (stopWhen: object): Promise<readonly JobRef[]> => {
    const mailing = await draftMailing(stored, "default", { stopWhen: { after: 10, ...stopWhen } });
    for (let part = 0; part < 3; part += 1) await importInto(stored, mailing, people(10, 10 * part));
    await decide(stored, mailing, { type: "StartMailing", at: now, scheduledAt: null });
    const { parts } = await stateOf(stored, mailing);
    return [mailing, ...parts.map(({ jobId }) => ({ ...mailing, jobId }))];
  };
  const end = async (job: JobRef): Promise<void> => {
    await happen(stored.log, job, [jobStarted(), jobCompleted({ counts: { ...allSent } })]);
  };
  const allSent = { total: 10, sent: 10, failed: 0, pending: 0, deferred: 0, unknown: 0, suppressed: 0 };
  const listen = (checkpoints = createMemoryCheckpointStore()): Listening => {
    const listening = followMailings(stored, checkpoints, null);
    listenings.push(listening);
    return listening;
  };
  const stoppedBy = async (mailing: JobRef) => (await stateOf(stored, mailing)).stoppedBy;
  const made = (job: JobRef) => eventually(async () => expect(await stored.log.readDecisions(job)).to.not.be.empty);

  it("pauses once too many came back for good of those that were sent, and counts none twice", async () => {
    const [mailing, ...parts] = await halfSent({ bounceRate: 0.1 });
    const checkpoints = createMemoryCheckpointStore();
    const first = listen(checkpoints);
    if (mailing === undefined) throw new Error("no mailing");
    for (const job of parts) await made(job);
    const [one, two, three] = parts as [JobRef, JobRef, JobRef];
    await end(one);
    await end(two);
    await happen(stored.log, one, [
      recipientBounced({ recipient: 0 }),
      recipientBounced({ recipient: 1, bounce: "soft" }),
    ]);
    await happen(stored.log, three, [recipientBounced({ recipient: 4 }), recipientComplained({ recipient: 5 })]);
    await eventually(
      async () => expect((await stateOf(stored, mailing)).reports).to.include({ bounced: 2, sent: 30 }),
      10_000,
    );
    await first.stop();
    await happen(stored.log, two, [recipientBounced({ recipient: 7 })]);
    listen(checkpoints);
    await eventually(async () => expect((await stateOf(stored, mailing)).reports).to.include({ bounced: 3 }), 10_000);
    expect(await stoppedBy(mailing)).to.equal(null);
    await happen(stored.log, two, [recipientBounced({ recipient: 8 })]);
    await eventually(
      async () => expect(await stoppedBy(mailing)).to.deep.equal({ tried: 30, failed: 4, of: "bounces" }),
      10_000,
    );
    await eventually(async () => {
      const last = (await stored.log.readDecisions(three)).at(-1);
      expect(last?.event.type).to.equal("JobPaused");
    });
  });

  it("pauses for complaints, and counts anew once it was resumed", async () => {
    const [mailing, one] = await halfSent({ complaintRate: 0.05 });
    if (mailing === undefined || one === undefined) throw new Error("no mailing");
    listen();
    await made(one);
    await happen(stored.log, one, [recipientComplained({ recipient: 0 }), recipientComplained({ recipient: 1 })]);
    await eventually(
      async () => expect(await stoppedBy(mailing)).to.deep.equal({ tried: 30, failed: 2, of: "complaints" }),
      10_000,
    );
    await decide(stored, mailing, { type: "ResumeMailing", at: now, reason: null });
    await happen(stored.log, one, [recipientComplained({ recipient: 2 })]);
    await eventually(
      async () => expect((await stateOf(stored, mailing)).reports).to.include({ complained: 3 }),
      10_000,
    );
    expect(await stoppedBy(mailing)).to.equal(null);
  });

  it("records nothing of it where nothing was asked for", async () => {
    const [mailing, one] = await halfSent({ failureRate: 0.5 });
    if (mailing === undefined || one === undefined) throw new Error("no mailing");
    listen();
    await made(one);
    await happen(stored.log, one, [recipientBounced()]);
    await end(one);
    await eventually(async () => expect((await stateOf(stored, mailing)).parts[0]?.counts).to.not.equal(null), 10_000);
    expect((await stored.log.readMailing(mailing)).map(({ event }) => event.type)).to.not.include(
      "MailingReportsCounted",
    );
  });
});
