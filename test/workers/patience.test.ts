import { expect } from "chai";
import type { RetrySchedule } from "../../src/domain/retry-schedule.ts";
import { patienceOf } from "../../src/workers/patience.ts";
import { commandFor, type HeldTurn } from "../../src/workers/turn.ts";
import {
  counts,
  job,
  jobCreated,
  jobPaused,
  jobResumed,
  jobRetried,
  jobStarted,
  settings,
} from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

const hour = 60 * 60 * 1000;
const at = (hours: number): string => new Date(Date.UTC(2026, 10, 21) + hours * hour).toISOString();
const patient = { ...settings, deferForMs: 24 * hour };

describe("The patience of a run with deferred recipients", () => {
  const patienceAfter = async (run: number, ...events: Parameters<typeof happen>[2]) => {
    const log = createMemoryEventLog();
    await happen(log, job, [jobCreated({}, at(0)), ...events]);
    return patienceOf(patient, { run, attempt: 1 }, await log.readDecisions(job));
  };

  it("begins with its first attempt", async () => {
    const { deferredUntil, putOffUntil } = await patienceAfter(1, jobStarted({}, at(1)));
    expect([deferredUntil, putOffUntil]).to.deep.equal([at(25), at(73)]);
  });

  it("is not over after a pause in which nobody was tried, however long that was", async () => {
    const pauses = [jobPaused({}, at(2)), jobResumed({}, at(50)), jobPaused({}, at(51)), jobResumed({}, at(61))];
    const { deferredUntil, putOffUntil } = await patienceAfter(1, jobStarted({}, at(1)), ...pauses);
    expect([deferredUntil, putOffUntil]).to.deep.equal([at(25 + 58), at(73 + 58)]);
  });

  it("knows of no pause of the run before", async () => {
    const before = [jobStarted({}, at(1)), jobPaused({}, at(2)), jobResumed({}, at(50))];
    const { deferredUntil } = await patienceAfter(2, ...before, jobRetried({}, at(60)), jobStarted({ run: 2 }, at(61)));
    expect(deferredUntil).to.equal(at(61 + 24));
  });
});

describe("The pauses of a job whose recipients are deferred again and again", () => {
  const schedule: RetrySchedule = { baseDelayMs: 60_000, factor: 2, jitter: 0, delaysMs: null };
  const left = counts({ total: 1, deferred: 1 });
  const error = { code: "recipients-deferred", message: "1 of 1 recipients is to be tried again." };

  /** Until the next attempt, after so many attempts of the run. */
  const pauseAfter = (attempt: number, retryDelayMs: number | null, deferredUntil: string | null): number => {
    const own = { settings: { ...patient, retryDelayMs }, turn: { run: 1, attempt }, worker: "worker-1", putOff: 0 };
    const end = { kind: "try-again", counts: left, error, deferredUntil } as const;
    const begin = Date.now();
    const command = commandFor(end, own as HeldTurn, schedule, at(0));
    return "nextAttemptAt" in command ? Date.parse(command.nextAttemptAt) - begin : Number.NaN;
  };

  it("grow to a minute where it asked for none, as each attempt adds decisions to its history", () => {
    const pauses = [1, 2, 5, 10, 20, 2000].map((attempt) => pauseAfter(attempt, 0, "2999-01-01T00:00:00.000Z"));
    for (const [index, expected] of [10, 20, 160, 5120, 60_000, 60_000].entries()) {
      expect(pauses[index]).to.be.within(expected, expected + 1000);
    }
  });

  it("are those of its schedule where these are longer", () => {
    expect(pauseAfter(1, null, "2999-01-01T00:00:00.000Z")).to.be.within(60_000, 61_000);
    expect(pauseAfter(3, null, "2999-01-01T00:00:00.000Z")).to.be.within(240_000, 241_000);
  });

  it("are none where it asked for none and has no patience besides its attempts", () => {
    expect(pauseAfter(3, 0, null)).to.be.within(0, 1000);
  });
});
