import { expect } from "chai";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { createJetStreamCanary, type LogCanary } from "../../src/health/jetstream-canary.ts";
import { connectJetStream, type JetStreamConnection } from "../../src/nats/connection.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { type NatsCluster, startNatsCluster } from "./nats-cluster.ts";

const electionMs = 60_000;

describe("A canary with three replicas", function () {
  this.timeout(180_000);
  let cluster: NatsCluster;
  let connections: JetStreamConnection[] = [];

  before(async () => {
    cluster = await startNatsCluster();
    connections = await Promise.all(cluster.nodes.map(({ config }) => connectJetStream(config, "test", () => {})));
  });
  after(async () => {
    await Promise.all(connections.map((connection) => connection.close()));
    await cluster?.cleanUp();
  });

  const createdAt = (): Promise<Readonly<Record<string, string>>> =>
    cluster.manage(async ({ streams }) => {
      const found: Record<string, string> = {};
      for await (const { config, created } of streams.list()) found[config.name] = created;
      return found;
    });

  it("waits for an election, and neither deletes nor makes a stream over it", async () => {
    const canaries = connections.map((connection) => createJetStreamCanary(connection, cluster.prefix, 3));
    await eventually(() => canaries[0]?.check(), electionMs);
    const before = await createdAt();
    expect(Object.keys(before)).to.deep.equal([`${cluster.prefix}_CANARY_1`]);

    const leader = await cluster.leaderOf(`${cluster.prefix}_CANARY_1`);
    const canary = canaries[leader === cluster.nodes[0] ? 1 : 0] as LogCanary;
    leader.freeze();
    await eventually(async () => expect(await failureOf(canary.check())).to.be.instanceOf(Unavailable));
    let failures = 0;
    await eventually(
      () =>
        canary.check().catch((failure: unknown) => {
          failures += 1;
          throw failure;
        }),
      electionMs,
    );
    expect(failures).to.be.greaterThan(0);
    await cluster.heal();
    await eventually(() => canary.check(), electionMs);
    expect(await eventually(createdAt, electionMs)).to.deep.equal(before);
  });
});
