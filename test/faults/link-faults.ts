import type { TcpProxy } from "../support/tcp-proxy.ts";
import { costsNothing, type Fault, lasting, type Toll, unwrittenOfBothWorkers, workers } from "./fault.ts";
import { type Actor, actors, type Links, type Stage } from "./stage.ts";
import { repeatedForWorker } from "./staged-settings.ts";

type LinkOf = {
  readonly name: string;
  readonly actors: readonly Actor[];
  readonly to: keyof Links;
  readonly toll: Toll;
};

const links: readonly LinkOf[] = [
  { name: "API–NATS", actors: ["api"], to: "nats", toll: costsNothing },
  { name: "scheduler–NATS", actors: ["scheduler"], to: "nats", toll: costsNothing },
  { name: "projector–NATS", actors: ["projector"], to: "nats", toll: costsNothing },
  { name: "workers–NATS", actors: workers, to: "nats", toll: costsNothing },
  { name: "API–database", actors: ["api"], to: "mysql", toll: costsNothing },
  { name: "scheduler–database", actors: ["scheduler"], to: "mysql", toll: costsNothing },
  { name: "projector–database", actors: ["projector"], to: "mysql", toll: costsNothing },
  { name: "workers–mail server", actors: workers, to: "smtp", toll: unwrittenOfBothWorkers },
];

/** Connections break, new ones are refused. */
const cuts = links.map(({ name, actors, to, toll }) =>
  linkFault(`${name} cut, 3 s`, toll, async (stage) => {
    await each(stage, actors, to, (door) => door.cut());
    await lasting(3000);
    await each(stage, actors, to, (door) => door.restore());
  }),
);

/** Connections stand and nothing comes through: longer than any single answer is waited for. */
const stalls = links.map(({ name, actors, to, toll }) =>
  linkFault(`${name} stalled, 10 s`, toll, async (stage) => {
    await each(stage, actors, to, async (door) => door.stall());
    await lasting(10_000);
    await each(stage, actors, to, (door) => door.restore());
  }),
);

/** Requests arrive and are carried out, but their answers are lost; then the connection breaks. */
const lostAnswers = links
  .filter(({ to }) => to !== "mysql")
  .map(({ name, actors, to, toll }) =>
    linkFault(`${name} loses answers, 2 s`, toll, async (stage) => {
      await each(stage, actors, to, async (door) => door.loseAnswers());
      await lasting(2000);
      await each(stage, actors, to, (door) => door.cut());
      await each(stage, actors, to, (door) => door.restore());
    }),
  );

const slowness = { latencyMs: 200, bytesPerSecond: 20_000 };
const slowLinks = ["API–NATS", "workers–NATS", "projector–database", "workers–mail server"];

/** Everything comes through, late and little by little: nothing is in doubt, so nothing may come twice. */
const slow = links
  .filter(({ name }) => slowLinks.includes(name))
  .map(({ name, actors, to }) =>
    linkFault(`${name} 200 ms and 20 kB/s, 10 s`, costsNothing, async (stage) => {
      await each(stage, actors, to, async (door) => door.slowDown(slowness));
      await lasting(10_000);
      await each(stage, actors, to, (door) => door.restore());
    }),
  );

/**
 * One worker alone loses the log, for so long that the other takes over. What it has claimed it still sends for up to a
 * second, as long as it may believe in its lease, and cannot record: up to what it claims ahead, beside what it had.
 */
const partition: Fault = {
  name: "one worker–NATS stalled, 25 s",
  strike: async ({ links: doors }, { victim }) => {
    doors[victim].nats.stall();
    await lasting(25_000);
    await doors[victim].nats.restore();
    return { mayDouble: 2 * repeatedForWorker };
  },
};

/** Clients at the steady load make some two thousand mails in this time. */
const slowMs = 15_000;
const leastMails = 1000;

/**
 * A log that takes long for each message, as a cluster over several sites does. Nothing is in doubt, the API answers no
 * client with 503, and mails keep up with the jobs, because outcomes share messages.
 */
const slowAcknowledgements: Fault = {
  name: "NATS slow: 20 ms an acknowledgement, 15 s",
  mayTell: [],
  strike: async (stage, { arrived }) => {
    const before = arrived();
    await each(stage, actors, "nats", async (door) => door.delayAnswers(20));
    await lasting(slowMs);
    const mails = arrived() - before;
    await each(stage, actors, "nats", (door) => door.restore());
    const alsoViolated = (): string[] =>
      mails < leastMails ? [`${mails} mails arrived meanwhile, fewer than ${leastMails}`] : [];
    return { ...costsNothing, alsoViolated };
  },
};

export const linkFaults: readonly Fault[] = [
  ...cuts,
  ...stalls,
  ...lostAnswers,
  ...slow,
  slowAcknowledgements,
  partition,
];

function linkFault(name: string, toll: Toll, happens: (stage: Stage) => Promise<void>): Fault {
  return {
    name,
    strike: async (stage) => {
      await happens(stage);
      return toll;
    },
  };
}

async function each(
  stage: Stage,
  actors: readonly Actor[],
  to: keyof Links,
  act: (door: TcpProxy) => Promise<void>,
): Promise<void> {
  await Promise.all(actors.map((actor) => act(stage.links[actor][to])));
}
