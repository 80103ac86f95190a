import { expect } from "chai";
import { patienceOf } from "../../src/workers/patience.ts";
import { job, jobCreated, jobPaused, jobResumed, jobRetried, jobStarted, settings } from "../support/examples.ts";
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
