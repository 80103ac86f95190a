import { expect } from "chai";
import { CutRefused, cutBeginning } from "../../src/archive/jetstream-cut.ts";
import { createJetStreamEventLog } from "../../src/event-log/jetstream-event-log.ts";
import { ensureStreams } from "../../src/event-log/jetstream-streams.ts";
import { connectJetStream, type JetStreamConnection } from "../../src/nats/connection.ts";
import { eventually } from "../support/eventually.ts";
import { jobCreated } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { happen, newJob } from "../support/happen.ts";
import { type NatsCluster, startNatsCluster } from "./nats-cluster.ts";

describe("Cutting off the beginning of a log with three replicas", function () {
  this.timeout(120_000);
  let cluster: NatsCluster;
  let connection: JetStreamConnection;

  before(async () => {
    cluster = await startNatsCluster();
    connection = await connectJetStream(cluster.config, "test", () => {});
    await eventually(() => ensureStreams(connection, { prefix: cluster.prefix, replicas: 3, maxBytes: null }), 45_000);
  });
  after(async () => {
    await connection?.close();
    await cluster?.cleanUp();
  });

  it("is refused, and leaves the log as it was", async () => {
    const log = await createJetStreamEventLog(connection, cluster.prefix);
    const manager = await connection.nats.jetstreamManager();
    const stream = `${cluster.prefix}_JOBS`;
    for (let job = 0; job < 30; job += 1) await happen(log, newJob(), [jobCreated()]);
    const { config: before } = await manager.streams.info(stream);
    const failure = await failureOf(cutBeginning(connection, cluster.prefix, [{ to: 10, count: 10 }]));
    expect(failure).to.be.instanceOf(CutRefused);
    const { config, state } = await manager.streams.info(stream);
    expect(config).to.deep.equal(before);
    expect(state).to.include({ first_seq: 1, last_seq: 30, messages: 30 });
  });

  it("is done by way of one replica while nobody writes, and every server then has what is left, and takes more", async () => {
    const { prefix } = cluster;
    const stream = `${prefix}_JOBS`;
    const manager = await connection.nats.jetstreamManager();
    const withReplicas = (replicas: number) =>
      eventually(async () => {
        await ensureStreams(connection, { prefix, replicas, maxBytes: null });
        const { config, cluster: servers } = await manager.streams.info(stream);
        const others = servers?.replicas ?? [];
        expect([config.num_replicas, others.length]).to.deep.equal([replicas, replicas - 1]);
        for (const { current } of others) expect(current).to.equal(true);
      }, 60_000);
    const log = await createJetStreamEventLog(connection, prefix);
    const fillTo = async (sequence: number): Promise<void> => {
      while ((await log.state()).lastSequence < sequence) await happen(log, newJob(), [jobCreated()]);
    };
    await eventually(() => fillTo(30), 60_000);
    await withReplicas(1);
    await cutBeginning(connection, prefix, [{ to: 10, count: 10 }]);
    await withReplicas(3);
    await eventually(() => fillTo(40), 60_000);
    const seen = new Set<string>();
    await eventually(async () => {
      const leader = await cluster.leaderOf(stream);
      const { state, config } = await cluster.manage((one) => one.streams.info(stream), leader);
      expect(state).to.include({ first_seq: 11, last_seq: 40, messages: 30 });
      expect(config).to.include({ max_msgs: -1, max_msg_size: -1, num_replicas: 3 });
      seen.add(leader.name);
      if (seen.size < 3) await cluster.moveLeaderOf(stream);
      expect(seen.size).to.equal(3);
    }, 90_000);
  });
});
