import { isDecision } from "../../src/event-log/select-events.ts";
import type { LeaseAnswer, LeaseProbe, WorkOfWorker } from "../../src/workers/lease.ts";
import type { MailWorld } from "./mail-world.ts";
import type { SharedLog } from "./shared-log.ts";
import type { SimulatedProcess, World } from "./world.ts";

type Answering = { readonly process: SimulatedProcess; readonly isRunning: (about: WorkOfWorker) => boolean };

const timeoutMs = 1000;

/** How workers ask each other whether they are at it, and what they may conclude from the silence of another. */
export function createProbes(world: World, shared: SharedLog, mail: MailWorld) {
  const answering = new Map<string, Answering>();
  /** Which worker was found gone, by which one, from which job, and when. */
  const foundGone: { readonly by: string; readonly worker: string; readonly jobId: string; readonly atMs: number }[] =
    [];
  const holders = new Map<string, { readonly worker: string; readonly sinceMs: number }>();

  shared.onStored.push((entry) => {
    if (!isDecision(entry)) return;
    const { event, jobId, storedAtMs } = entry;
    const holder = holders.get(jobId);
    if (event.type !== "JobStarted") {
      holders.delete(jobId);
      return;
    }
    const { worker } = event.data;
    holders.set(jobId, { worker, sinceMs: storedAtMs });
    if (holder === undefined || holder.worker === worker) return;
    const mayTakeOver = foundGone.some(
      (found) =>
        found.by === worker && found.worker === holder.worker && found.jobId === jobId && found.atMs >= holder.sinceMs,
    );
    if (!mayTakeOver) world.violated(`${worker} takes ${jobId} from ${holder.worker} without having asked for it`);
  });

  const look = (worker: string, job: WorkOfWorker): LeaseAnswer => {
    const asked = answering.get(worker);
    if (asked === undefined || asked.process.state === "dead") return "silent";
    const isThere = asked.process.state === "alive" && !world.isLogAway();
    if (!asked.isRunning(job)) return isThere ? "over" : "silent";
    if (isThere && !world.strikes(world.faults.lostProbes)) return "running";
    world.note(`${worker} does not answer that it is at ${job.jobId}`);
    mail.doubt(asked.process, job.jobId);
    return "silent";
  };

  return {
    probeOf: (process: SimulatedProcess): LeaseProbe => ({
      answerFor: (worker, isRunning) => {
        answering.set(worker, { process, isRunning });
        return () => answering.delete(worker);
      },
      ask: (worker, job) =>
        new Promise((resolve) => {
          world.leave(process, () => {
            world.schedule(world.latency(), () => {
              const answer = look(worker, job);
              if (answer !== "running")
                foundGone.push({ by: process.name, worker, jobId: job.jobId, atMs: world.nowMs() });
              world.tell(process, answer === "silent" ? timeoutMs : world.latency(), () => resolve(answer));
            });
          });
        }),
    }),
  };
}
