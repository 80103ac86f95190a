import { expect } from "chai";
import { createJetStreamAttachmentStore } from "../../src/content/jetstream-attachment-store.ts";
import { adjustReplicas } from "../../src/event-log/jetstream-replicas.ts";
import { ensureStreams } from "../../src/event-log/jetstream-streams.ts";
import { openBucket } from "../../src/nats/bucket.ts";
import { connectJetStream, type JetStreamConnection } from "../../src/nats/connection.ts";
import { eventually } from "../support/eventually.ts";
import { newJob } from "../support/happen.ts";
import { type NatsCluster, startNatsCluster } from "./nats-cluster.ts";

describe("The replicas of streams that were made with one", function () {
  this.timeout(180_000);
  let cluster: NatsCluster;
  let connection: JetStreamConnection;
  const streams = ["JOBS", "CONTENT", "SUPPRESSIONS", "TURNS"];

  before(async () => {
    cluster = await startNatsCluster();
    connection = await connectJetStream(cluster.config, "test", () => {});
    const settings = { prefix: cluster.prefix, replicas: 1 };
    await eventually(() => ensureStreams(connection, { ...settings, maxBytes: null }), 45_000);
    await eventually(() => openBucket(connection, "ACCESS", settings), 45_000);
    const attachments = createJetStreamAttachmentStore(connection, settings);
    await eventually(() => attachments.put(newJob(), "0".repeat(64), Buffer.from("a file")), 45_000);
  });
  after(async () => {
    await connection?.close();
    await cluster?.cleanUp();
  });

  const replicasOf = async (): Promise<Readonly<Record<string, number>>> => {
    const found: Record<string, number> = {};
    for await (const { config } of (await connection.nats.jetstreamManager()).streams.list())
      found[config.name.replace(`${cluster.prefix}_`, "")] = config.num_replicas;
    return found;
  };
  const each = (replicas: number) =>
    Object.fromEntries([...streams, "KV_ACCESS", "OBJ_ATTACHMENTS"].map((name) => [name, replicas]));

  it("become those of the setting, also of keys and attachments, which would be lost with their node", async () => {
    const { prefix } = cluster;
    expect(await replicasOf()).to.deep.equal(each(1));
    await eventually(async () => {
      await ensureStreams(connection, { prefix, replicas: 3, maxBytes: null });
      await adjustReplicas(connection, prefix, 3);
      expect(await replicasOf()).to.deep.equal(each(3));
    }, 60_000);
  });

  it("stay as they are where a process, or a command, was not told how many there are", async () => {
    await ensureStreams(connection, { prefix: cluster.prefix, replicas: null, maxBytes: null });
    expect(await replicasOf()).to.deep.equal(each(3));
  });
});
