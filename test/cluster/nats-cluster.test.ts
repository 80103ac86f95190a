import { expect } from "chai";
import { streamName } from "../../src/event-log/subjects.ts";
import { eventually } from "../support/eventually.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { type NatsCluster, startNatsCluster } from "./nats-cluster.ts";

describe("Three servers of NATS as one cluster", function () {
  this.timeout(120_000);
  let cluster: NatsCluster;
  let stream: string;
  before(async () => {
    cluster = await startNatsCluster();
    stream = streamName(cluster.prefix, "JOBS");
    await cluster.manage(({ streams }) => streams.add({ name: stream, subjects: ["stored"], num_replicas: 3 }));
  });
  after(() => cluster.cleanUp());
  afterEach(() => cluster.heal());

  const store = (words: string): Promise<number> =>
    eventually(
      () =>
        cluster.manage(async (manager) => {
          const answer = await manager.jetstream().publish("stored", new TextEncoder().encode(words));
          return answer.seq;
        }),
      30_000,
    );
  const wordsAt = (seq: number): Promise<string> =>
    eventually(
      () => cluster.manage(async ({ streams }) => (await streams.getMessage(stream, { seq })).string()),
      30_000,
    );

  it("has another leader when the leader is killed, and keeps what was stored", async () => {
    const sequence = await store("before the crash");
    const leader = await cluster.leaderOf(stream);

    await leader.kill();

    expect((await cluster.leaderOf(stream)).name).not.to.equal(leader.name);
    expect(await wordsAt(sequence)).to.equal("before the crash");
  });

  it("goes on without a server that is cut off, and fills one again that was wiped", async () => {
    const [cutOff, wiped] = (await cluster.followersOf(stream)) as [ClusterNode, ClusterNode];
    await cutOff.cutOff();
    const sequence = await store("while one was cut off");
    await cutOff.rejoin();
    await wiped.kill();
    await wiped.wipe();
    await cluster.heal();

    wiped.stall();
    await store("while its routes swallow everything");
    await wiped.rejoin();

    expect(await wordsAt(sequence)).to.equal("while one was cut off");
  });

  it("lets another server lead without a fault", async () => {
    const leader = await cluster.leaderOf(stream);

    await cluster.moveLeaderOf(stream);

    expect((await cluster.leaderOf(stream)).name).not.to.equal(leader.name);
  });
});
