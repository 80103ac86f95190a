import { Unavailable } from "../../src/domain/unavailable.ts";
import { createSweeper } from "../../src/erasure/sweeper.ts";
import { createListening } from "../../src/event-log/following/listener.ts";
import { createMailWork } from "../../src/job-kinds/email/mail-work.ts";
import { withBreaker } from "../../src/mail/breaker.ts";
import { createMissingTurns } from "../../src/turns/scheduler/missing-turns.ts";
import { createScheduler } from "../../src/turns/scheduler/scheduler.ts";
import { createTimer } from "../../src/turns/scheduler/timer.ts";
import type { QueuedTurn, TurnPlace, Turns } from "../../src/turns/turns.ts";
import type { WorkQueue } from "../../src/turns/work-queue.ts";
import { createJobWorker } from "../../src/workers/create-job-worker.ts";
import { queuePatienceMs, type Worker } from "../../src/workers/worker.ts";
import { emptyOutbox } from "../support/empty-outbox.ts";
import { emptySuppressions } from "../support/empty-suppressions.ts";
import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";
import { oneRoute } from "../support/one-route.ts";
import { createCheckpoints } from "./checkpoints.ts";
import { createConsumer } from "./consumer.ts";
import { createHelping } from "./helping.ts";
import { createMailWorld } from "./mail-world.ts";
import { createProbes } from "./probes.ts";
import { createReadSide } from "./read-side.ts";
import type { Scenario } from "./scenario.ts";
import { createSharedLog } from "./shared-log.ts";
import { createSuppressions } from "./suppressions.ts";
import { ask } from "./wire.ts";
import type { SimulatedProcess, World } from "./world.ts";

export type Service = ReturnType<typeof createService>;

type Running = { readonly process: SimulatedProcess; readonly worker: Worker | null };

const stopWithinMs = 10_000;
/** Long enough for the request that comes again and again, so that every job gets its own id. */
const sweeping = { olderThanMs: 60_000, everyMs: 5000 };
/** Much sooner than usual: jobs are small here. */
const sharingPace = { everyMs: 20, aheadMs: 0, groupMs: 200 };
const rankOf = ({ priority }: QueuedTurn): number => ["high", "normal", "low"].indexOf(priority);

type PlacedTurn = QueuedTurn & { readonly place: TurnPlace };

const isSame = (one: PlacedTurn, other: PlacedTurn): boolean =>
  one.jobId === other.jobId &&
  one.after === other.after &&
  one.place === other.place &&
  one.priority === other.priority;

/** The processes of a service in a world, each with its own way to the log, the queue and the mail server. */
export function createService(world: World, scenario: Scenario) {
  const shared = createSharedLog(world);
  const mail = createMailWorld(world, shared);
  const suppressions = createSuppressions(world, scenario.unsubscriptions.length > 0);
  mail.isRefused.push(suppressions.whyNotToMail);
  const probes = createProbes(world, shared, mail);
  const helping = createHelping(world);
  const readSide = createReadSide(world, shared);
  const queue = createConsumer<PlacedTurn>(
    world,
    queuePatienceMs,
    ({ jobId, after }) => `the turn of ${jobId} after #${after}`,
  );
  const checkpoints = createCheckpoints(world);
  const running = new Set<Running>();
  const hasSweeper = scenario.rivals.length > 0;
  let born = 0;

  const bear = (kind: string, isMortal = true): SimulatedProcess => {
    born += 1;
    return { name: `${kind}-${born}`, isMortal, state: "alive", held: [] };
  };
  /** Under another name each time, as processes are. */
  const keepRunning = (kind: string, start: (process: SimulatedProcess) => Worker | null): void => {
    const process = bear(kind);
    world.note(`${process.name} starts`);
    revive.set(process, () => keepRunning(kind, start));
    world.runIn(process, () => {
      const worker = start(process);
      if (process.state !== "dead") running.add({ process, worker });
    });
  };
  const revive = new Map<SimulatedProcess, () => void>();
  const replace = (process: SimulatedProcess): void => {
    for (const one of running) if (one.process === process) running.delete(one);
    const again = revive.get(process);
    if (again !== undefined) world.schedule(world.chance.between(50, 3000), again);
  };
  world.onEnd.push((process, how) => {
    if (how === "crashed") replace(process);
  });

  const report = (process: SimulatedProcess) => (failure: unknown) => {
    world.note(`${process.name} reports ${String(failure)}`);
    if (!(failure instanceof Unavailable)) world.violated(`${process.name} met ${String(failure)}`);
  };

  const startWorker = (process: SimulatedProcess): Worker => {
    const work = createMailWork({
      contentStore: shared.contentsOf(process),
      routing: oneRoute(withBreaker(mail.mailerOf(process, scenario.connections))),
      mailFrom: "Waybill <waybill@example.org>",
      batchDelayMs: scenario.batchDelayMs,
      suppressions: suppressions.guardOf(process),
      publicUrl: null,
      throttling: null,
      returnPaths: null,
      slowAtOnce: 2,
    });
    const worker = createJobWorker(
      {
        log: shared.logOf(process),
        queue: queueOf(process),
        probe: probes.probeOf(process),
        exchange: helping.exchangeOf(process),
      },
      work,
      {
        name: process.name,
        concurrency: scenario.concurrency,
        sharingPace,
        retrySchedule: { baseDelayMs: 1000, factor: 2, jitter: 0.1, delaysMs: null },
      },
      {
        turnBrokeOff: report(process),
        helpBrokeOff: report(process),
        standsStill: ({ reason, failure }) => {
          if (reason === "queue-failed") report(process)(failure);
        },
      },
    );
    worker.start();
    return worker;
  };
  const queueOf = (process: SimulatedProcess): WorkQueue => ({
    take: (limit) =>
      ask(world, process, "take", async () =>
        queue.take(process, limit, rankOf).map(({ entry, ...handover }) => ({ ...handover, turn: entry, putAtMs: 0 })),
      ),
    waiting: () => ask(world, process, "waiting", async () => queue.count()),
    onArrival: (arrived) => queue.onArrival(process, arrived),
  });
  let losses = 0;
  const turnsOf = (process: SimulatedProcess): Turns => ({
    put: (turn, place) =>
      ask(world, process, "put", async () => {
        const placed = { ...turn, place };
        if (!queue.has((other) => isSame(placed, other))) queue.add(placed);
      }),
    jobs: () =>
      ask(world, process, "jobs", async () => {
        const found = shared.entries.map(({ jobId }) => jobId).filter((id) => queue.has(({ jobId }) => jobId === id));
        return ({ jobId }) => found.includes(jobId);
      }),
    madeAt: () => ask(world, process, "madeAt", async () => String(losses)),
  });
  const startScheduler = (process: SimulatedProcess): null => {
    const log = shared.logOf(process);
    const turns = turnsOf(process);
    const waitingList = readSide.waitingListOf(process);
    const ports = { log, turns, openJobs: readSide.openJobsOf(process), waitingList };
    const scheduler = createScheduler(turns, (put) => [
      createTimer(put, waitingList, report(process)),
      createMissingTurns(ports, put, { failed: report(process), lost: () => {} }),
    ]);
    createListening({ log, checkpoints: checkpoints.storeOf(process), report: report(process) }, scheduler).start();
    return null;
  };

  const startSweeper = (process: SimulatedProcess): null => {
    const ports = {
      log: shared.logOf(process),
      contentStore: shared.contentsOf(process),
      results: createMemoryResultStore(),
      outbox: emptyOutbox,
      suppressions: emptySuppressions,
    };
    const failed = report(process);
    createSweeper(ports, shared.thingsOf(process), sweeping, {
      erased: () => {},
      notErased: (_, failure) => failed(failure),
      failed,
    }).start();
    return null;
  };

  return {
    shared,
    mail,
    suppressions,
    readSide,
    /** For clients outside of the service: it neither crashes nor freezes. */
    createClient: (): SimulatedProcess => bear("client", false),
    /** For a request that its process may not survive. */
    createRival: (): SimulatedProcess => bear("rival"),
    start: (): void => {
      for (let count = 0; count < scenario.workers; count += 1) keepRunning("worker", startWorker);
      for (let count = 0; count < scenario.schedulers; count += 1) keepRunning("scheduler", startScheduler);
      if (hasSweeper) keepRunning("sweeper", startSweeper);
    },
    processes: (): SimulatedProcess[] => [...running].map(({ process }) => process),
    isIdle: (): boolean =>
      !(hasSweeper && shared.hasUnsettled()) &&
      queue.isEmpty() &&
      checkpoints.reached("scheduler") >= (shared.entries.at(-1)?.sequence ?? 0) &&
      readSide.isUpToDate() &&
      [...running].every(({ worker }) => !worker?.busy() && !worker?.helping()),
    loseTurns: (): void => {
      losses += 1;
      world.note("all turns are lost");
      queue.lose();
    },
    /** Stops a worker as an operator does; a new one takes its place. */
    restartWorker: (): void => {
      const found = [...running].find(({ process, worker }) => worker !== null && process.state === "alive");
      if (found === undefined) return;
      const { process, worker } = found;
      world.note(`${process.name} is told to stop`);
      const ended = (): void => {
        if (process.state === "dead") return;
        world.note(`${process.name} has stopped`);
        process.state = "dead";
        replace(process);
        mail.ended(process);
      };
      world.runIn(process, () => void worker?.stop(stopWithinMs).then(ended));
    },
  };
}
