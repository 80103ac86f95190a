import { expect } from "chai";
import { createOpenJobs } from "../../src/archive/open-jobs.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import {
  addSchedule,
  createClock,
  decideSchedule,
  type ScheduleStage,
  scheduleEventsIn,
} from "../support/schedule-followers.ts";

const now = "2026-03-02T10:00:00.000Z";

describe("A schedule, when the log is archived", () => {
  it("holds back its last event and nothing before it, until it is deleted", async () => {
    const stage: ScheduleStage = {
      log: createMemoryEventLog(),
      contentStore: createMemoryContentStore(),
      clock: createClock(now),
    };
    const left = async (upTo: number): Promise<readonly (readonly [number, string])[]> => {
      const open = createOpenJobs(upTo, false);
      for (const event of await scheduleEventsIn(stage.log)) open.take(event);
      return open.left().map(({ sequence, why }) => [sequence, why]);
    };
    const schedule = await addSchedule(stage);
    await addSchedule(stage);
    expect(await left(1)).to.deep.equal([[1, "its schedule is active"]]);
    await decideSchedule(stage, schedule, { type: "PauseSchedule", at: now, reason: null });
    expect(await left(2)).to.deep.equal([[2, "its schedule is active"]]);
    expect(await left(3)).to.deep.equal([
      [3, "its schedule is paused"],
      [2, "its schedule is active"],
    ]);
    await decideSchedule(stage, schedule, { type: "DeleteSchedule", at: now, reason: null });
    expect(await left(4)).to.deep.equal([[2, "its schedule is active"]]);
  });

  it("holds back nothing old any more once it was paused and resumed, or resumed and paused", async () => {
    const stage: ScheduleStage = {
      log: createMemoryEventLog(),
      contentStore: createMemoryContentStore(),
      clock: createClock(now),
    };
    const left = async (upTo: number): Promise<readonly number[]> => {
      const open = createOpenJobs(upTo, false);
      for (const event of await scheduleEventsIn(stage.log)) open.take(event);
      return open.left().map(({ sequence }) => sequence);
    };
    const schedule = await addSchedule(stage);
    const pause = { type: "PauseSchedule", at: now, reason: null } as const;
    const resume = { type: "ResumeSchedule", at: now, reason: null } as const;
    for (const command of [pause, resume]) await decideSchedule(stage, schedule, command);
    expect([await left(2), await left(3)]).to.deep.equal([[], [3]]);
    for (const command of [pause, resume, pause]) await decideSchedule(stage, schedule, command);
    expect([await left(5), await left(6)]).to.deep.equal([[], [6]]);
  });
});
