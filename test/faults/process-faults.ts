import { costsNothing, type Fault, lasting, type Toll, unwrittenOfBothWorkers, unwrittenOfOneWorker } from "./fault.ts";
import { steadyLoad } from "./load.ts";
import { actors } from "./stage.ts";
import { connectionsOfWorker } from "./staged-settings.ts";

const soleActors = ["api", "scheduler", "projector"] as const;
const servers = [
  ["NATS", "nats"],
  ["the database", "mysql"],
] as const;

/** Processes that die without a word. A server is gone for three seconds, one of ours as long as it takes to start. */
export const kills: readonly Fault[] = [
  ...soleActors.map((actor) =>
    fault(`SIGKILL of the ${actor}`, costsNothing, async (stage) => {
      await stage.actors[actor].kill();
      await stage.actors[actor].start();
    }),
  ),
  fault("SIGKILL of a worker", unwrittenOfOneWorker, async (stage, { victim }) => {
    await stage.actors[victim].kill();
    await stage.actors[victim].start();
  }),
  fault("SIGKILL of both workers", unwrittenOfBothWorkers, async ({ actors: { worker, otherWorker } }) => {
    await Promise.all([worker.kill(), otherWorker.kill()]);
    await Promise.all([worker.start(), otherWorker.start()]);
  }),
  ...servers.map(([name, server]) =>
    fault(`SIGKILL of ${name}`, costsNothing, async (stage) => {
      await stage[server].kill();
      await lasting(3000);
      await stage[server].start();
    }),
  ),
  fault("SIGKILL of the mail server", unwrittenOfBothWorkers, async ({ mailServer }) => {
    await mailServer.stop();
    await lasting(3000);
    await mailServer.start();
  }),
];

/** Processes that stop for a while and then go on as if nothing had been. */
export const freezes: readonly Fault[] = [
  ...soleActors.map((actor) =>
    fault(`SIGSTOP of the ${actor}, 5 s`, costsNothing, async (stage) => {
      stage.actors[actor].suspend();
      await lasting(5000);
      stage.actors[actor].resume();
    }),
  ),
  fault("SIGSTOP of a worker, 5 s", unwrittenOfOneWorker, async (stage, { victim }) => {
    stage.actors[victim].suspend();
    await lasting(5000);
    stage.actors[victim].resume();
  }),
  ...servers.map(([name, server]) =>
    fault(`SIGSTOP of ${name}, 5 s`, costsNothing, async (stage) => {
      stage[server].suspend();
      await lasting(5000);
      await stage[server].resume();
    }),
  ),
  zombie(),
];

/** The other worker takes over meanwhile; the one that wakes up may finish what was in flight and nothing more. */
function zombie(): Fault {
  return {
    name: "SIGSTOP of a worker, 40 s",
    load: { recipientsPerJob: 60, everyMs: 100, jobs: 15 },
    strike: async (stage, { victim, arrived }): Promise<Toll> => {
      stage.actors[victim].suspend();
      await lasting(40_000);
      const atWaking = arrived();
      stage.actors[victim].resume();
      await lasting(3000);
      const late = arrived() - atWaking;
      const alsoViolated = (): string[] =>
        late > connectionsOfWorker ? [`the worker that woke up sent ${late} mails more`] : [];
      return { ...unwrittenOfOneWorker, alsoViolated };
    },
  };
}

/** What operators do on purpose: no mail may come twice, and a client may get no refusal but "retry later". */
export const restarts: readonly Fault[] = [
  {
    ...fault("SIGTERM and restart of each role in turn", costsNothing, async (stage) => {
      for (const actor of actors) {
        await stage.actors[actor].terminate();
        await stage.actors[actor].start();
      }
    }),
    // The kernel resets a connection that it has taken, and that the process had not when it stopped to listen.
    mayTell: ["503", "ECONNREFUSED", "ECONNRESET"],
    // All of them have to end in time, also where a slow machine takes a minute and a half for the restarts.
    load: { ...steadyLoad, jobs: 80 },
  },
  ...servers.map(([name, server]) =>
    fault(`SIGTERM and restart of ${name}`, costsNothing, async (stage) => {
      await stage[server].stop();
      await stage[server].start();
    }),
  ),
  fault(
    "the workers' consumer deleted",
    costsNothing,
    async ({ log }) => await log.deleteTurnsConsumer("email-send-normal-lane"),
  ),
  fault("TURNS deleted under load", costsNothing, async ({ log }) => await log.deleteTurns()),
  fault("the checkpoints of all listeners deleted", costsNothing, async ({ log }) => await log.deleteCheckpoints()),
  fault("the readers of the log deleted", costsNothing, async ({ log }) => await log.deleteReaders()),
];

function fault(name: string, toll: Toll, happens: (...parts: Parameters<Fault["strike"]>) => Promise<void>): Fault {
  return {
    name,
    strike: async (stage, cell) => {
      await happens(stage, cell);
      return toll;
    },
  };
}
