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
});
