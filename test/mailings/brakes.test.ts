import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { weekdays } from "../../src/domain/mailing/window.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import type { Listening } from "../../src/following/listener.ts";
import { eventually } from "../support/eventually.ts";
import { now } from "../support/examples.ts";
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

  it("has parts of what may go in five minutes, and in a ramp-up larger ones later", async () => {
    const steady = await draftMailing(stored, "default", { rate: 120 });
    await importInto(stored, steady, people(15));
    await importInto(stored, steady, people(35));
    const sizesOf = async (mailing: JobRef) =>
      (await stateOf(stored, mailing)).parts.map(({ recipients }) => recipients);
    expect(await sizesOf(steady)).to.deep.equal([10, 5, 10, 10]);
    const warming = await draftMailing(stored, "default", { rampUp: { firstHour: 24, growth: 3 } });
    await importInto(stored, warming, people(42));
    expect(await sizesOf(warming)).to.deep.equal([...Array.from({ length: 12 }, () => 2), 6, 6, 6]);
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
