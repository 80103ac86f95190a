import { expect } from "chai";
import { encodeContent } from "../../src/content/encode-content.ts";
import { createEraser, type ErasurePorts } from "../../src/erasure/complete-erasure.ts";
import { eraseLeftover } from "../../src/erasure/erase-leftovers.ts";
import { eraseFromSchedules } from "../../src/erasure/erase-schedules.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { VersionConflict } from "../../src/event-log/log-failures.ts";
import { saveSchedule } from "../../src/mailings/schedules/save-schedule.ts";
import { toScheduleContent } from "../../src/mailings/schedules/schedule-content.ts";
import { emptyOutbox } from "../support/empty-outbox.ts";
import { emptySuppressions } from "../support/empty-suppressions.ts";
import { failureOf } from "../support/failure-of.ts";
import { cause } from "../support/mailings.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";
import {
  addSchedule,
  createClock,
  decideSchedule,
  letter,
  type ScheduleStage,
  scheduleEventsIn,
} from "../support/schedule-followers.ts";

const now = "2026-03-02T10:00:00.000Z";
const request = { reason: "No job was made of it.", cause, at: now };
const asked = { address: "ADA@example.com", reason: "asked", cause, at: now };
const settings = { makes: "job", cron: "0 9 * * *", timeZone: "UTC", overlap: "skip", catchUp: "none" } as const;

describe("The template of a schedule", () => {
  let stage: ScheduleStage;
  let ports: ErasurePorts;
  let schedule: JobRef;

  beforeEach(async () => {
    stage = { log: createMemoryEventLog(), contentStore: createMemoryContentStore(), clock: createClock(now) };
    ports = { ...stage, results: createMemoryResultStore(), outbox: emptyOutbox, suppressions: emptySuppressions };
    schedule = await addSchedule(stage);
  });

  const templateNow = async (): Promise<JobRef> => {
    const last = await stage.log.readSchedule(schedule);
    return { ...schedule, jobId: last?.event.data.schedule.contentId ?? "" };
  };
  const isThere = async (ref: JobRef): Promise<boolean> => (await stage.contentStore.get(ref)) !== null;
  const textNow = async (): Promise<string> =>
    Buffer.from((await stage.contentStore.get(await templateNow())) ?? []).toString();
  const sweep = (job: JobRef) => eraseLeftover(ports, { job, attachment: null }, request);
  /** Acts on the whole log, as after a crash. */
  const erase = async (): Promise<void> => {
    const ending = { stopping: new AbortController().signal, givenUp: new AbortController().signal };
    for (const event of await scheduleEventsIn(stage.log)) await createEraser(ports).act(event, ending);
  };

  it("is not swept away, however old it is", async () => {
    const template = await templateNow();
    expect(await sweep(template)).to.equal(null);
    expect(await isThere(template)).to.equal(true);
  });

  it("is swept away where the request died before the schedule was stored, or changed", async () => {
    for (const scheduleId of ["0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f", schedule.jobId]) {
      const left = { ...schedule, jobId: `left-of-${scheduleId}` };
      await stage.contentStore.put(left, encodeContent(toScheduleContent(scheduleId, "Weekly", letter)));
      expect(await sweep(left)).to.be.a("number");
      expect(await isThere(left)).to.equal(false);
    }
    expect(await isThere(await templateNow())).to.equal(true);
  });

  it("is erased by the eraser where the process died after it was replaced", async () => {
    const before = await templateNow();
    const forgetful = { ...stage.contentStore, erase: async () => {} };
    const change = { name: "Daily", settings, template: letter };
    await saveSchedule({ ...stage, contentStore: forgetful }, schedule, {
      as: "change",
      request: change,
      cause,
      at: now,
    });
    expect(await isThere(before)).to.equal(true);
    await erase();
    expect([await isThere(before), await isThere(await templateNow())]).to.deep.equal([false, true]);
  });

  it("is erased by the eraser where the process died after the schedule was deleted", async () => {
    const before = await templateNow();
    await decideSchedule(stage, schedule, { type: "DeleteSchedule", at: now, reason: null });
    expect(await isThere(before)).to.equal(true);
    await erase();
    expect(await isThere(before)).to.equal(false);
  });

  it("loses a person also where it is changed at that moment", async () => {
    const change = { name: "Daily", settings, template: letter };
    const { get } = stage.contentStore;
    let changes = 0;
    /** Changed by another process after the erasure has read the schedule, and before it has read the template. */
    const overtaken: typeof get = async (ref) => {
      changes += 1;
      if (changes === 1) await saveSchedule(stage, schedule, { as: "change", request: change, cause, at: now });
      return await get(ref);
    };
    const contentStore = { ...stage.contentStore, get: overtaken };
    expect((await eraseFromSchedules({ ...ports, contentStore }, [schedule], asked)).size).to.equal(1);
    expect(await textNow())
      .to.include("bob@example.com")
      .and.not.match(/ada@/i);
  });

  it("is not stored again by a change that it was erased from before the change was done", async () => {
    const stored: JobRef[] = [];
    let isErasing = false;
    const { get, put } = stage.contentStore;
    const contentStore = {
      ...stage.contentStore,
      put: async (ref: JobRef, content: Uint8Array) => {
        stored.push(ref);
        return await put(ref, content);
      },
      get: async (ref: JobRef) => {
        if (!isErasing) {
          isErasing = true;
          await eraseFromSchedules(ports, [schedule], asked);
        }
        return await get(ref);
      },
    };
    const change = { name: "Daily", settings, template: letter };
    await saveSchedule({ ...stage, contentStore }, schedule, { as: "change", request: change, cause, at: now });
    expect(await Promise.all(stored.map(isThere))).to.deep.equal(stored.map(() => false));
    expect(await textNow())
      .to.include("bob@example.com")
      .and.not.match(/ada@/i);
  });

  it("is stored anew only so often where what was decided last only a newer release can read", async () => {
    const stored: JobRef[] = [];
    const append = async (): Promise<never> => {
      if (stored.length > 100) throw new Error("It goes on and on.");
      throw new VersionConflict("Another decision came first.");
    };
    const put = async (ref: JobRef, content: Uint8Array): Promise<boolean> => {
      stored.push(ref);
      return await stage.contentStore.put(ref, content);
    };
    const overtaken = { log: { ...stage.log, append }, contentStore: { ...stage.contentStore, put } };
    const failure = await failureOf(eraseFromSchedules(overtaken, [schedule], asked));
    expect(failure).to.be.an.instanceOf(VersionConflict);
    expect(await Promise.all(stored.map(isThere))).to.deep.equal(stored.map(() => false));
  });

  it("loses a person once, and what it was before is gone", async () => {
    const before = await templateNow();
    expect((await eraseFromSchedules(ports, [schedule], asked)).size).to.equal(1);
    expect((await eraseFromSchedules(ports, [schedule], asked)).size).to.equal(0);
    expect(await isThere(before)).to.equal(false);
    expect(await textNow())
      .to.include("bob@example.com")
      .and.not.match(/ada@/i);
  });
});
