import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { v7 as uuid } from "uuid";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { streamName } from "../../src/event-log/subjects.ts";
import { eventually } from "../support/eventually.ts";
import { caused, jobCreated, jobPaused } from "../support/examples.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { type NatsCluster, startNatsCluster } from "./nats-cluster.ts";

const newJob = (): JobRef => ({ tenant: "default", jobId: uuid() });

/** 2.9.10 goes on answering for ten seconds. */
const watchedMs = 4000;

describe("A leader that was cut off from the others and does not know it", function () {
  this.timeout(120_000);
  let cluster: NatsCluster;
  /** Leads from one node to another, as a load balancer may. */
  let door: TcpProxy;
  const behindDoor = { host: "127.0.0.1", port: 0 };
  let opened: OpenedLog;
  /** Of a process on the leader's node that has seen nothing yet. */
  let late: OpenedLog;

  before(async () => {
    cluster = await startNatsCluster();
    const { close } = await openJetStreamLog(cluster.config, cluster.prefix, { replicas: 3 });
    await close();
    door = await startTcpProxy(behindDoor);
  });
  after(async () => {
    await Promise.all([opened.close(), late.close()]);
    await door.stop();
    await cluster.cleanUp();
  });

  const portOf = ({ config }: ClusterNode): number => Number(config.servers[0]?.split(":")[1]);

  it("shows no earlier state, neither to a client that has seen a later one nor to one that has seen none", async () => {
    const stream = streamName(cluster.prefix, "JOBS");
    const leader = await cluster.leaderOf(stream);
    const [other] = (await cluster.followersOf(stream)) as [ClusterNode];
    behindDoor.port = portOf(other);
    const config = { ...cluster.config, servers: [`127.0.0.1:${door.port}`] };
    opened = await openJetStreamLog(config, cluster.prefix, { replicas: 3 });
    late = await openJetStreamLog(leader.config, cluster.prefix, { replicas: 3 });
    const { log } = opened;
    const [job, newer] = [newJob(), newJob()];
    const created = await log.append(job, [caused(uuid(), jobCreated())], 0);

    leader.stall();
    const paused = caused(uuid(), jobPaused());
    const sequence = await eventually(() => log.append(job, [paused], created), 45_000);
    const sequenceOfNewer = await log.append(newer, [caused(uuid(), jobCreated())], 0);
    await door.cut();
    behindDoor.port = portOf(leader);
    await door.restore();

    const until = performance.now() + watchedMs;
    const told = new Set<string>();
    const ask = async (by: OpenedLog, about: JobRef, known: number): Promise<void> => {
      const last = await by.log.lastDecision(about).catch(({ name }: Error) => name);
      told.add(last === known ? "all" : last === "Unavailable" ? "nothing" : `the past (${last})`);
    };
    while (performance.now() < until) {
      await Promise.all([ask(opened, job, sequence), ask(late, job, sequence), ask(late, newer, sequenceOfNewer)]);
      await pause(50);
    }
    expect([...told]).to.deep.equal(["nothing"]);
  });
});
