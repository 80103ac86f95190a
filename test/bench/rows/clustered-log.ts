import { randomUUID } from "node:crypto";
import type { Fact, NewEntry, NewEvent } from "../../../src/event-log/event-log.ts";
import { whyNoReplicas } from "../../../src/nats/server-version.ts";
import type { NatsConfig } from "../../../src/settings/config.ts";
import { startKubernetesCluster } from "../../ops/shipped-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { newJob } from "../../support/happen.ts";
import { openJetStreamLog } from "../../support/jetstream-log.ts";
import { ownNatsVersion } from "../../support/own-binaries.ts";
import { type ColdAndWarm, coldAndWarm } from "../cold-and-warm.ts";
import { figureOf, type Measurement, NotAvailable } from "../row.ts";

/** So many jobs are in work at a time; each has one entry on its way, as with workers. */
const jobs = 64;
const forMs = 5000;
const nodes = 3;
/** The outcomes of a worker with the usual ten connections. */
const usualOutcomes = 10;
const electionMs = 60_000;

type Rates = { readonly single: number; readonly usual: number };

/** What is left of everything else: how many entries one log takes, of one event and of a group, synced each time. */
export const clusteredLog: Measurement = {
  name: "a log on three nodes, every entry synced",
  timeoutMs: 300_000,
  measure: ({ rounds, onFreshServers }) =>
    onFreshServers(async ({ ground, lifecycle }) => {
      const version = await ownNatsVersion();
      if (whyNoReplicas(version, nodes) !== null)
        throw new NotAvailable(`NATS is ${version}; it cannot keep several copies`);
      const cluster = await startKubernetesCluster();
      lifecycle.started("three nodes of NATS", cluster.stop);
      const three = await measureOn(cluster.config, nodes, rounds);
      const one = await measureOn(ground.nats.config, 1, rounds);
      return {
        figures: [
          figureOf(three, "3 nodes, entries/s of one event", ({ single }) => single),
          figureOf(three, "3 nodes, outcomes/s in entries of ten", ({ usual }) => usual * usualOutcomes),
          figureOf(one, "1 node, entries/s of one event", ({ single }) => single),
          figureOf(one, "1 node, outcomes/s in entries of ten", ({ usual }) => usual * usualOutcomes),
        ],
        notes: [`${jobs} jobs at a time; all nodes share this machine's cores and its disk`],
        rounds: { three, one },
      };
    }),
};

async function measureOn(config: NatsConfig, replicas: number, rounds: number): Promise<ColdAndWarm<Rates>> {
  const open = () => openJetStreamLog(config, `bench${randomUUID().slice(0, 8)}`, { replicas });
  const { log, close } = await eventually(open, electionMs);
  const write = async (outcomes: number): Promise<number> => {
    const startedAt = performance.now();
    let entries = 0;
    const writer = async (): Promise<void> => {
      const job = newJob();
      for (let first = 0; performance.now() - startedAt < forMs; first += outcomes) {
        await log.record(job, entryOf(first, outcomes));
        entries += 1;
      }
    };
    await Promise.all(Array.from({ length: jobs }, writer));
    return (entries * 1000) / (performance.now() - startedAt);
  };
  const round = async (): Promise<Rates> => ({ single: await write(1), usual: await write(usualOutcomes) });
  try {
    return await coldAndWarm(rounds, round, async () => {});
  } finally {
    await close();
  }
}

function entryOf(first: number, outcomes: number): NewEntry<Fact> {
  const [one, ...others] = Array.from({ length: outcomes }, (_, index) => outcomeOf(first + index));
  return [one as NewEvent<Fact>, ...others];
}

const outcomeOf = (recipient: number): NewEvent<Fact> => ({
  actor: "worker:one",
  correlationId: null,
  causationId: null,
  traceparent: null,
  id: randomUUID(),
  event: {
    type: "RecipientSent",
    at: new Date().toISOString(),
    data: {
      run: 1,
      attempt: 1,
      recipient,
      messageId: `<${randomUUID()}@example.com>`,
      response: "250 2.0.0 Ok: queued",
    },
  },
});
