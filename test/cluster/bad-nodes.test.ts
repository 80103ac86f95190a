import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { createJetStreamEventLog } from "../../src/event-log/jetstream-event-log.ts";
import { ensureStreams } from "../../src/event-log/jetstream-streams.ts";
import { contentSubjectOf, streamFilter, streamName } from "../../src/event-log/subjects.ts";
import { asking, connectJetStream, type JetStreamConnection } from "../../src/nats/connection.ts";
import { ensureDurable, onElections } from "../../src/nats/consumers.ts";
import { goNextTo } from "../../src/nats/server-pool.ts";
import { eventually } from "../support/eventually.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { type NatsCluster, startNatsCluster } from "./nats-cluster.ts";

/** A frozen server is found out in six seconds, and on a busy machine nothing takes as long as it should. */
const frozenMs = 25_000;
/** A server that was cut off takes ten seconds to see that it has lost the others. On a busy machine it once took more than 45. */
const cutOffMs = 100_000;
const spreadMs = 60_000;

describe("A client of three servers", function () {
  this.timeout(300_000);
  let cluster: NatsCluster;
  let connections: JetStreamConnection[] = [];

  before(async () => {
    cluster = await startNatsCluster();
    const connection = await open();
    await eventually(() => ensureStreams(connection, { prefix: cluster.prefix, replicas: 3, maxBytes: null }), 45_000);
  });
  afterEach(async () => {
    await cluster.heal();
    await Promise.all(connections.map((connection) => connection.close()));
    connections = [];
  });
  after(() => cluster?.cleanUp());

  async function open(lookEveryMs?: number): Promise<JetStreamConnection> {
    const judgedBy = streamName(cluster.prefix, "JOBS");
    const choice = { judgedBy, ...(lookEveryMs === undefined ? {} : { lookEveryMs }) };
    const connection = await connectJetStream(cluster.config, "test", () => {}, undefined, choice);
    connections.push(connection);
    return connection;
  }
  const nodeOf = ({ nats }: JetStreamConnection): ClusterNode => {
    const found = cluster.nodes.find(({ config }) => config.servers[0] === nats.getServer());
    if (found === undefined) throw new Error(`${nats.getServer()} is none of the cluster`);
    return found;
  };
  /** By the requests of the log, and by those of the client, as buckets make them. */
  const store = async (connection: JetStreamConnection): Promise<unknown> => {
    const subject = contentSubjectOf(cluster.prefix, { tenant: "default", jobId: "a" });
    await asking(connection, () => connection.request(subject, "x"));
    return await asking(connection, () => connection.nats.jetstream().publish(subject, "x", { timeout: 1500 }));
  };
  const letLead = async (stream: string, node: ClusterNode): Promise<void> => {
    while ((await cluster.leaderOf(stream)) !== node) await cluster.moveLeaderOf(stream);
  };
  const storesBy = (connection: JetStreamConnection, ms: number): Promise<unknown> =>
    eventually(() => store(connection), ms);

  it("leaves one that is frozen", async () => {
    const connection = await open();
    const frozen = nodeOf(connection);
    await storesBy(connection, 10_000);
    frozen.freeze();
    await storesBy(connection, frozenMs);
    expect(nodeOf(connection).name).not.to.equal(frozen.name);
  });

  it("leaves one that has lost the others, and stays where all of them have", async () => {
    const connection = await open();
    const minority = nodeOf(connection);
    await storesBy(connection, 10_000);
    await minority.cutOff();
    await storesBy(connection, cutOffMs);
    expect(nodeOf(connection).name).not.to.equal(minority.name);
  });

  it("leaves no other node for one that has lost the others, though for a while it alone answers", async () => {
    const clients = await Promise.all(Array.from({ length: 6 }, () => open()));
    const stream = streamName(cluster.prefix, "CONTENT");
    const placer = await cluster.placer();
    await letLead(stream, placer);
    const others = clients.filter((client) => nodeOf(client) !== placer);
    await Promise.all(others.map((client) => storesBy(client, 20_000)));
    await placer.cutOff();
    await Promise.all(others.map((client) => storesBy(client, cutOffMs)));
    expect([...nodesOf(others)]).not.to.include(placer.name);
  });

  it("leaves it, too, where it asks nothing, and follows the log from that very node", async () => {
    const connection = await open();
    const log = await createJetStreamEventLog(connection, cluster.prefix);
    const minority = nodeOf(connection);
    await letLead(streamName(cluster.prefix, "JOBS"), minority);
    const over = new AbortController();
    const following = log.follow({ afterSequence: 0, maxEvents: 100, signal: over.signal });
    following[Symbol.asyncIterator]()
      .next()
      .catch(() => {});
    minority.stall();
    await eventually(() => expect(nodeOf(connection).name).not.to.equal(minority.name), cutOffMs);
    over.abort();
  });

  it("is soon told of a consumer whose leader froze meanwhile, and hears that it has another one", async () => {
    const stream = streamName(cluster.prefix, "TURNS");
    const filterSubject = streamFilter(cluster.prefix, "TURNS").replace(">", "any");
    const consumer = { stream, name: "any", filterSubject, ackWaitMs: 5000 };
    const first = await open();
    await eventually(() => ensureDurable(first, consumer));
    const { cluster: placed } = await cluster.manage(({ consumers }) => consumers.info(stream, consumer.name));
    const other = cluster.nodes.find(({ name }) => name !== placed?.leader) as ClusterNode;
    const connection = await connectJetStream(other.config, "test", () => {});
    connections.push(connection);
    const elected: string[] = [];
    onElections(connection, stream, (name) => elected.push(name));
    cluster.nodes.find(({ name }) => name === placed?.leader)?.freeze();
    const begunAt = performance.now();
    // Where that node also placed consumers, the others refuse to answer until one of them does.
    await eventually(() => ensureDurable(connection, consumer));
    expect(performance.now() - begunAt).to.be.lessThan(frozenMs);
    await eventually(() => expect(elected).to.include(consumer.name), frozenMs);
  });

  const nodesOf = (clients: readonly JetStreamConnection[]): ReadonlySet<string> =>
    new Set(clients.map((client) => nodeOf(client).name));
  const openMany = (): Promise<JetStreamConnection[]> => Promise.all(Array.from({ length: 9 }, () => open(2000)));
  const spread = (clients: readonly JetStreamConnection[]): Promise<unknown> =>
    eventually(() => expect(nodesOf(clients).size).to.be.greaterThan(1), spreadMs);

  it("spreads over them again once those that were away are back", async () => {
    const [first, ...others] = cluster.nodes as [ClusterNode, ...ClusterNode[]];
    await Promise.all(others.map((node) => node.kill()));
    const clients = await openMany();
    expect(nodesOf(clients)).to.deep.equal(new Set([first.name]));
    await cluster.heal();
    await spread(clients);
  });

  it("breaks no request when it spreads", async () => {
    const clients = await openMany();
    const [place = ""] = (cluster.nodes[0] as ClusterNode).config.servers;
    await Promise.all(clients.map((client) => storesBy(client, 20_000)));
    for (const { nats } of clients) {
      goNextTo(nats, place);
      if (nats.getServer() !== place) await nats.reconnect();
    }
    await eventually(() => expect(nodesOf(clients).size).to.equal(1));
    const broken: string[] = [];
    let answered = 0;
    let isOver = false;
    const storing = clients.map(async (client) => {
      await storesBy(client, 20_000);
      while (!isOver) {
        await store(client).then(
          () => {
            answered += 1;
          },
          (failure: unknown) => broken.push(String(failure)),
        );
        // Without a rest, nine clients keep the servers from each other, too.
        await pause(5);
      }
    });
    await spread(clients).finally(() => {
      isOver = true;
    });
    await Promise.all(storing);
    expect(answered).to.be.greaterThan(clients.length);
    expect(broken).to.deep.equal([]);
  });
});
