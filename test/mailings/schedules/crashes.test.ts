import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { createJetStreamContentStore } from "../../../src/content/jetstream-content-store.ts";
import { chanceOf } from "../../support/chance-of.ts";
import { eventually } from "../../support/eventually.ts";
import { type OpenedLog, openJetStreamLog } from "../../support/jetstream-log.ts";
import { createMemoryCheckpointStore } from "../../support/memory/memory-checkpoint-store.ts";
import { createMemoryContentStore } from "../../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../../support/memory/memory-event-log.ts";
import {
  addSchedule,
  completeLast,
  createClock,
  firedBy,
  followSchedules,
  historyOf,
  isMade,
  jobsIn,
  type ScheduleStage,
} from "../../support/schedule-followers.ts";
import { startNats, type TestNats } from "../../support/services.ts";

const at = (time: string): string => `2026-03-02T${time}.000Z`;
const clockAtTen = () => createClock(at("10:00:00"));

/** More than a process needs to fire, so that every request of a firing is the last one in some history. */
const mostSteps = 25;

describe("Processes that fire a schedule, die at any step, and all believe to be the one", function () {
  this.timeout(120_000);

  describe("on a log in memory", () => {
    const stageOf = async (): Promise<ScheduleStage> => ({
      log: createMemoryEventLog(),
      contentStore: createMemoryContentStore(),
      clock: clockAtTen(),
    });
    for (let seed = 1; seed <= 20; seed += 1) {
      it(`make one job for each time (seed ${seed})`, async () => live(await stageOf(), seed));
    }
    for (let step = 1; step <= mostSteps; step += 1) {
      it(`make one job where the first dies at request ${step}`, async () => dieAt(await stageOf(), step));
    }
  });

  describe("on JetStream", () => {
    let nats: TestNats;
    let opened: OpenedLog;

    beforeEach(async () => {
      nats = await startNats();
      opened = await openJetStreamLog(nats.config, nats.prefix);
    });
    afterEach(async () => {
      await opened.close();
      await nats.cleanUp();
    });

    for (let seed = 21; seed <= 25; seed += 1) {
      it(`make one job for each time (seed ${seed})`, async () => {
        const contentStore = await createJetStreamContentStore(opened.connection, nats.prefix);
        await live({ log: opened.log, contentStore, clock: clockAtTen() }, seed);
      });
    }
  });
});

/** One process fires and dies, another one takes over. */
async function dieAt(stage: ScheduleStage, step: number): Promise<void> {
  await addSchedule(stage);
  const checkpoints = createMemoryCheckpointStore();
  const dying = dyingAt(stage, step);
  const first = followSchedules(dying.stage, checkpoints);
  stage.clock.move(at("10:05:00"));
  await eventually(async () => {
    const made = await jobsIn(stage.log);
    expect(made.length > 0 || dying.isDead()).to.equal(true);
  });
  await first.stop(1);
  const second = followSchedules(stage, checkpoints);
  await eventually(async () => expect(await jobsIn(stage.log)).to.have.lengthOf(1));
  await completeLast(stage);
  await second.stop();
  expect(await historyOf(stage)).to.deep.equal(["Created", "Fired 10:05"]);
  expect(await jobsIn(stage.log)).to.deep.equal((await firedBy(stage)).map(({ jobId }) => jobId));
}

/** Some times pass; at each, two processes die at a step of their own, and a third one does what they have left. */
async function live(stage: ScheduleStage, seed: number): Promise<void> {
  const checkpoints = createMemoryCheckpointStore();
  const chance = chanceOf(seed);
  await addSchedule(stage, { overlap: seed % 2 === 0 ? "skip" : "queue", catchUp: "one" });
  for (let minute = 5; minute <= 30; minute += 5) {
    const dying = () => dyingAt(stage, 1 + chance(mostSteps)).stage;
    const both = [followSchedules(dying(), checkpoints), followSchedules(dying(), createMemoryCheckpointStore())];
    stage.clock.move(at(`10:${String(minute).padStart(2, "0")}:00`));
    await pause(chance(30));
    await Promise.all(both.map((one) => one.stop(1)));
    const third = followSchedules(stage, checkpoints);
    await eventually(async () => expect((await firedBy(stage)).length).to.be.greaterThan(0));
    await completeLast(stage);
    await third.stop();
  }
  const last = followSchedules(stage, checkpoints);
  stage.clock.move(at("10:31:30"));
  for (const job of await firedBy(stage)) await isMade(stage, job);
  await last.stop();
  const firings = (await historyOf(stage)).filter((line) => line.startsWith("Fired"));
  expect(new Set(firings).size, firings.join()).to.equal(firings.length);
  const fired = (await firedBy(stage)).map(({ jobId }) => jobId);
  const made = await jobsIn(stage.log);
  expect(new Set(made).size).to.equal(made.length);
  // The last one may have been fired a moment before the end.
  expect(fired.slice(0, made.length)).to.deep.equal(made);
  expect(fired.length - made.length).to.be.lessThan(2);
}

/** A process that dies before its n-th request, or after it: nothing that it asks for from then on is done. */
function dyingAt(stage: ScheduleStage, step: number) {
  let steps = 0;
  const isDead = (): boolean => steps > step;
  const takeStep = (): void => {
    steps += 1;
    if (isDead()) throw new Error("The process is dead.");
  };
  const counted =
    <Given extends readonly unknown[], Result>(ask: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      takeStep();
      const result = await ask(...given);
      takeStep();
      return result;
    };
  const { log, contentStore } = stage;
  const { append, readSchedule, readDecisions } = log;
  const dying: ScheduleStage = {
    ...stage,
    log: {
      ...log,
      append: counted(append),
      readSchedule: counted(readSchedule),
      readDecisions: counted(readDecisions),
    },
    contentStore: { ...contentStore, put: counted(contentStore.put), get: counted(contentStore.get) },
  };
  return { stage: dying, isDead };
}
