import { type Fault, unwrittenOfBothWorkers } from "./fault.ts";
import { actors, type Stage } from "./stage.ts";

/** Everything that a process or a server does when it starts must take as long with a long past as without one. */
export const agedLog = (agedJobs: number): Fault => ({
  name: `a log of ${agedJobs} jobs, every process killed`,
  stage: { agedJobs },
  strike: async (stage) => {
    await killAll(stage);
    await Promise.all(actors.map((actor) => stage.actors[actor].start()));
    return unwrittenOfBothWorkers;
  },
});

/** NATS too, and every consumer that processes would find again. */
async function killAll({ actors: processes, nats, log }: Stage): Promise<void> {
  await Promise.all(actors.map((actor) => processes[actor].kill()));
  await log.deleteConsumers();
  await nats.kill();
  await nats.start();
}
