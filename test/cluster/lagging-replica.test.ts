import { expect } from "chai";
import { v7 as uuid } from "uuid";
import { createJetStreamAccessStore } from "../../src/access/jetstream-access-store.ts";
import { digestOf } from "../../src/content/encode-content.ts";
import { createJetStreamContentStore } from "../../src/content/jetstream-content-store.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { streamName } from "../../src/event-log/subjects.ts";
import { streamOfBucket } from "../../src/nats/bucket.ts";
import { nameWith } from "../../src/nats/names.ts";
import { createJetStreamSealedLog } from "../../src/seals/jetstream-sealed-log.ts";
import { createJetStreamSuppressionEntries } from "../../src/suppressions/jetstream-suppression-entries.ts";
import { createJetStreamSuppressionStore } from "../../src/suppressions/jetstream-suppression-store.ts";
import { eventually } from "../support/eventually.ts";
import { caused, jobCreated, jobPaused, recipientSent } from "../support/examples.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { type NatsCluster, startNatsCluster } from "./nats-cluster.ts";

/** A consumer is placed on any of three replicas: so many reads miss the one that lags in 1 of 190,000 runs. */
const manyReads = 30;

describe("A replica that lags behind its leader", function () {
  this.timeout(120_000);
  let cluster: NatsCluster;
  /** Says where consumers are placed; we are its client. */
  let placer: ClusterNode;
  let opened: OpenedLog;
  let job: JobRef;

  before(async () => {
    cluster = await startNatsCluster();
    placer = await cluster.placer();
    opened = await openJetStreamLog(placer.config, cluster.prefix, { replicas: 3 });
  });
  after(async () => {
    await opened.close();
    await cluster.cleanUp();
  });
  beforeEach(() => {
    job = { tenant: "default", jobId: uuid() };
  });
  afterEach(() => cluster.heal());

  /** One replica hears no more from the leader, but from the placer, and so is given consumers still. */
  const letOneLag = async (stream: string): Promise<void> => {
    while ((await cluster.leaderOf(stream)) === placer) await cluster.moveLeaderOf(stream);
    const leader = await cluster.leaderOf(stream);
    const lagging = cluster.nodes.find((node) => node !== placer && node !== leader) as ClusterNode;
    lagging.stall(leader);
  };
  const expectAlways = async (read: () => Promise<number>, expected: number): Promise<void> => {
    // It may say that it cannot be had now; it may never say less than there is.
    const answers = await Promise.all(Array.from({ length: manyReads }, () => eventually(read, 30_000)));
    expect(answers).to.deep.equal(Array(manyReads).fill(expected));
  };

  it("leaves nothing out of a job's history that was acknowledged", async () => {
    const { log } = opened;
    const created = await log.append(job, [caused(uuid(), jobCreated())], 0);
    await log.record(job, [caused(uuid(), recipientSent({ recipient: 0 }))]);
    await letOneLag(streamName(cluster.prefix, "JOBS"));

    await log.append(job, [caused(uuid(), jobPaused())], created);
    await log.record(job, [caused(uuid(), recipientSent({ recipient: 1 }))]);

    await expectAlways(async () => (await log.readRecipients(job)).length, 2);
    await expectAlways(async () => (await log.readDecisions(job)).length, 2);
    await expectAlways(async () => (await log.readHistory(job)).length, 4);
  });

  it("ends no reading of the whole log, for seals and their checks, before its end", async () => {
    const { log, connection } = opened;
    const sealedLog = await createJetStreamSealedLog(connection, cluster.prefix);
    const from = (await log.state()).lastSequence;
    await letOneLag(streamName(cluster.prefix, "JOBS"));

    await log.append(job, [caused(uuid(), jobCreated())], 0);

    const count = async (): Promise<number> => {
      let read = 0;
      for await (const messages of sealedLog.messages(from, "all")) read += messages.length;
      return read;
    };
    await expectAlways(count, 1);
  });

  it("drops no address from the suppressions", async () => {
    const { connection } = opened;
    const store = createJetStreamSuppressionStore(connection, cluster.prefix);
    const entries = createJetStreamSuppressionEntries(connection, cluster.prefix);
    await store.secret();
    await letOneLag(streamName(cluster.prefix, "SUPPRESSIONS"));

    const key = { tenant: "default", digest: digestOf("ada@example.org").slice(0, 22) };
    await store.put(key, {
      email: "ada@example.org",
      reason: "manual",
      createdAt: new Date().toISOString(),
    });

    const count = async (): Promise<number> => {
      const digests = new Set<string>();
      await entries.readAfter(0, (digest) => digests.add(digest));
      return digests.size;
    };
    await expectAlways(count, 1);
  });

  it("hides no key that was revoked, and no tenant", async () => {
    const { connection } = opened;
    const store = await createJetStreamAccessStore(connection, { prefix: cluster.prefix, replicas: 3 });
    await letOneLag(streamOfBucket(nameWith(cluster.prefix, "ACCESS")));

    await store.setRules("acme", {});

    await expectAlways(async () => (await store.listTenants()).size, 1);
  });

  it("loses no piece of an attachment", async () => {
    const { attachments } = await createJetStreamContentStore(opened.connection, cluster.prefix, 3);
    const bytes = Buffer.alloc(300_000, "a piece of paper ");
    await attachments.put(job, digestOf("first"), Buffer.from("first"));
    await letOneLag(`OBJ_${cluster.prefix}_ATTACHMENTS`);

    await attachments.put(job, digestOf(bytes), bytes);

    await expectAlways(async () => (await attachments.get(job, digestOf(bytes)))?.length ?? 0, bytes.length);
  });
});
