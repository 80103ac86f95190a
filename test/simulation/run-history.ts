import { foldJobView, type JobView } from "../../src/domain/job/job-view.ts";
import { addressOf, createClients, jobIdOf } from "./client.ts";
import { startsOutOfOrder } from "./group-order.ts";
import { createRivals, faultsOfContent } from "./rivals.ts";
import { type Moment, type Order, type Scenario, scenarioOf, type Unrest } from "./scenario.ts";
import { createService } from "./service.ts";
import { faultsOfTakeovers } from "./takeovers.ts";
import { installVirtualTime } from "./virtual-time.ts";
import { faultsOfJob } from "./what-must-hold.ts";
import { createWorld } from "./world.ts";

/** What came of one seed: what was wrong, and everything that happened, a line each. */
export type History = {
  readonly violations: readonly string[];
  readonly story: readonly string[];
  readonly steps: number;
  readonly handedOver: number;
};

/** Whatever is not quiet this long after the world was healed hangs. */
const quietWithinMs = 5 * 60_000;
const mostSteps = 30_000;
const lookEvery = 20;
const outageMs = 12_000;
const puttingOffMs = 2000;

/** One history of a whole service, the same for the same seed. */
export async function runHistory(seed: number, scenario: Scenario = scenarioOf(seed)): Promise<History> {
  const world = createWorld(seed, scenario.faults);
  const restoreTime = installVirtualTime(world);
  const reject = (failure: unknown): void => world.violated(`an unhandled rejection: ${String(failure)}`);
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", reject);
  try {
    return await play(world, scenario);
  } finally {
    process.removeListener("unhandledRejection", reject);
    for (const other of others) process.on("unhandledRejection", other);
    restoreTime();
  }
}

/**
 * Only orders end a worker, and no living worker is taken for dead. One that is told to stop before it learns that it has
 * a lease leaves that behind; so does one whose helper waits for a mail for longer than a stop may take.
 */
const isCalm = ({ faults, logOutages, deadly, restarts, unrest }: Scenario): boolean =>
  (restarts.length + unrest.length === 0 ||
    [faults.lostAnswers, faults.lateEffects, faults.slowMails].every((often) => often === 0)) &&
  [faults.crashes, faults.freezes, faults.lostProbes].every((often) => often === 0) &&
  logOutages.length === 0 &&
  deadly === null;

/** A job that was not created yet is in no group. */
const isGrouped = (view: JobView | null): boolean => view !== null && view.settings.groupSha256 !== null;

async function play(world: ReturnType<typeof createWorld>, scenario: Scenario): Promise<History> {
  const service = createService(world, scenario);
  const clients = createClients(world, service);
  const rivals = createRivals(world, service);
  const { shared, mail } = service;
  const viewOf = (jobId: string) => foldJobView(shared.historyOf(jobId).map(({ event }) => event));
  const jobIds = scenario.jobs.map((_, index) => jobIdOf(index));
  const isWaiting = (jobId: string): boolean => {
    const { status, completedAt } = viewOf(jobId) ?? { status: "pending", completedAt: null };
    return completedAt === null && status !== "paused" && !isHeldBack(jobId);
  };
  /** By a paused job of its group that will never be resumed. */
  const isHeldBack = (jobId: string): boolean =>
    isGrouped(viewOf(jobId)) && jobIds.map(viewOf).some((view) => view?.status === "paused" && isGrouped(view));
  const isQuiet = (): boolean =>
    world.isHealed() && clients.areDone() && rivals.areDone() && service.isIdle() && !jobIds.some(isWaiting);

  const causeUnrest = ({ job, how, afterMs, times, everyMs }: Unrest): void => {
    mail.putOff(times * everyMs + puttingOffMs);
    const say = (type: Order["type"]) => (): void =>
      clients.order({ job, type, scope: "failed", startsAfterMs: null, afterEvents: 0, delayMs: 0 });
    for (let time = 0; time < times; time += 1) {
      const delayMs = afterMs + time * everyMs;
      if (how === "restarts") world.schedule(delayMs, service.restartWorker);
      else if (job < jobIds.length) {
        world.schedule(delayMs, say("PauseJob"));
        world.schedule(delayMs + everyMs / 2, say("ResumeJob"));
      }
    }
  };

  service.start();
  scenario.jobs.forEach((job, index) => {
    const own = scenario.rivals.filter((rival) => rival.job === index);
    const mayBeRefused = own.some(({ does }) => does === "another");
    world.schedule(job.createdAfterMs, () => clients.create(index, job, mayBeRefused));
    for (const rival of own) world.schedule(job.createdAfterMs + rival.afterMs, () => rivals.act(rival, job));
  });
  const at = ({ afterEvents, delayMs }: Moment, act: () => void): void => {
    shared.onStored.push(({ sequence, index }) => {
      if (sequence === afterEvents + 1 && index === 0) world.schedule(delayMs, act);
    });
  };
  for (const order of scenario.orders) if (order.job < jobIds.length) at(order, () => clients.order(order));
  for (const moment of scenario.restarts) at(moment, service.restartWorker);
  for (const moment of scenario.logOutages) at(moment, () => world.takeLogAway(outageMs));
  for (const moment of scenario.mailOutages) at(moment, () => mail.goAway(outageMs));
  for (const moment of scenario.losses) at(moment, service.loseTurns);
  for (const unsubscription of scenario.unsubscriptions) {
    at(unsubscription, () => service.suppressions.add(addressOf(unsubscription.job, unsubscription.recipient)));
  }
  if (scenario.deadly !== null) mail.deadly.add(addressOf(scenario.deadly.job, scenario.deadly.recipient));
  for (const unrest of scenario.unrest) at(unrest, () => causeUnrest(unrest));
  let mustEndAtMs = Number.POSITIVE_INFINITY;
  world.schedule(scenario.healedAfterMs, () => {
    world.heal(service.processes());
    mustEndAtMs = world.nowMs() + quietWithinMs;
  });

  let steps = 0;
  while (steps < mostSteps && world.nowMs() < mustEndAtMs && world.violations.length === 0) {
    if (steps % lookEvery === 0 && isQuiet()) break;
    await world.step();
    steps += 1;
  }
  if (world.violations.length === 0 && !isQuiet()) world.violated("it does not come to an end");
  for (const jobId of world.isHealed() ? jobIds : []) {
    const own = mail.handovers.filter((handover) => handover.jobId === jobId);
    for (const fault of faultsOfJob(jobId, shared.historyOf(jobId), own, isHeldBack(jobId))) world.violated(fault);
    for (const fault of await faultsOfContent(service, jobId, scenario.rivals.length > 0)) world.violated(fault);
    for (const fault of faultsOfTakeovers(jobId, shared.historyOf(jobId), isCalm(scenario))) world.violated(fault);
  }
  for (const fault of startsOutOfOrder(shared.entries)) world.violated(fault);
  return {
    violations: world.violations,
    story: world.story,
    steps,
    handedOver: mail.handovers.filter(({ isTaken }) => isTaken).length,
  };
}
