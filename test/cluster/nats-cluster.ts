import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { connect, type JetStreamManager, type NatsConnection, type StreamInfo } from "nats";
import type { NatsConfig } from "../../src/settings/config.ts";
import { atEndOfRun } from "../support/end-of-run.ts";
import { eventually } from "../support/eventually.ts";
import { locateOwnBinaries, ownNatsVersion } from "../support/own-binaries.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type ClusterNode, startClusterNode } from "./cluster-node.ts";
import { startRoutes } from "./routes.ts";

/** Elections take seconds, more on a busy machine. */
const electionMs = 90_000;
/** A leader that steps down is another one, or the same, well within this time. */
const stepDownMs = 5_000;
/** How long a server gets to catch up before another one leads what it lacks. */
const catchUpMs = 30_000;
const replicas = 3;

/** Three servers with JetStream. `config` and `prefix` are what `openJetStreamLog` and `spawnWaybill` want to know. */
export type NatsCluster = {
  /** Of the servers, as `2.9.10`. */
  readonly version: string;
  readonly nodes: readonly ClusterNode[];
  /** To connect to any of them. */
  readonly config: NatsConfig;
  readonly prefix: string;
  /** The server that leads a stream (`streamName` says its name); waits for an election. */
  leaderOf(stream: string): Promise<ClusterNode>;
  /** The server that says where streams and consumers are placed. */
  placer(): Promise<ClusterNode>;
  /** The other servers of a stream with three replicas. */
  followersOf(stream: string): Promise<readonly ClusterNode[]>;
  /** Lets another server lead the stream, without any fault. */
  moveLeaderOf(stream: string): Promise<void>;
  /** Starts, thaws and rejoins whatever was taken away, and returns when every replica of each stream is up to date. */
  heal(): Promise<void>;
  /** Does something as a client of a server that was not taken away, over a connection of its own. */
  manage<Result>(work: Work<Result>, node?: ClusterNode): Promise<Result>;
  cleanUp(): Promise<void>;
};

export type ClusterOptions = {
  readonly isSynced?: boolean;
  /** The `nats-server` that its nodes run; by default the one that is first in PATH. */
  readonly binary?: string | undefined;
};

/** For one test file: call it in `before`, and `cleanUp` in `after`. */
export async function startNatsCluster(options: ClusterOptions = {}): Promise<NatsCluster> {
  const binary = options.binary ?? (await locateOwnBinaries()).nats;
  const folder = await temporaryFolder();
  const names = Array.from({ length: replicas }, (_, index) => `n${index + 1}`);
  const routes = await startRoutes(names);
  const nodes = await Promise.all(
    names.map((name) => startClusterNode({ ...options, name, binary, folder: join(folder, name), routes })),
  );
  const cleanUp = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.kill()));
    await routes.stop();
    await rm(folder, { recursive: true, force: true });
  };
  atEndOfRun(cleanUp);

  const manage: NatsCluster["manage"] = (work, node) => onServer(node ?? anyOf(nodes), work);
  const infoOf = (stream: string): Promise<StreamInfo> =>
    eventually(() => manage((manager) => manager.streams.info(stream)), electionMs);
  const leaderOf = (stream: string): Promise<ClusterNode> =>
    eventually(async () => namedIn(nodes, (await infoOf(stream)).cluster?.leader), electionMs);
  await untilReplicasFit(manage).catch(async (failure: unknown) => {
    await cleanUp();
    throw failure;
  });
  return {
    version: await ownNatsVersion(),
    nodes,
    config: { ...(nodes[0] as ClusterNode).config, servers: nodes.flatMap(({ config }) => config.servers) },
    prefix: `t${randomBytes(5).toString("hex")}`,
    leaderOf,
    placer: () => eventually(async () => namedIn(nodes, await metaLeaderBy(anyOf(nodes))), electionMs),
    followersOf: async (stream) => {
      const leader = await leaderOf(stream);
      return nodes.filter((node) => node !== leader);
    },
    moveLeaderOf: async (stream) => {
      const before = await leaderOf(stream);
      let askedAt = Number.NEGATIVE_INFINITY;
      await eventually(async () => {
        if ((await leaderOf(stream)) !== before) return;
        // Again where the others have elected the same one, or never heard of it.
        if (performance.now() - askedAt > stepDownMs) {
          askedAt = performance.now();
          await manage((_, connection) => stepDown(connection, stream));
        }
        throw new Error(`${before.name} still leads ${stream}`);
      }, electionMs);
    },
    heal: async () => {
      for (const node of nodes) {
        node.thaw();
        await node.rejoin();
        await node.start();
      }
      await eventually(() => manage(untilCurrent), catchUpMs).catch(async () => {
        // A server that has led without the others, and stored what they never got, may wait for the next entry or the
        // next election before it drops that; a stream that nobody writes to has neither.
        await manage(electAnew);
        await eventually(() => manage(untilCurrent), electionMs);
      });
    },
    manage,
    cleanUp,
  };
}

type Work<Result> = (manager: JetStreamManager, connection: NatsConnection) => Promise<Result>;

async function onServer<Result>({ config }: ClusterNode, work: Work<Result>): Promise<Result> {
  const connection = await connect({ servers: [...config.servers], reconnect: false, timeout: 5000 });
  try {
    return await work(await connection.jetstreamManager({ checkAPI: false, timeout: 2000 }), connection);
  } finally {
    await connection.close();
  }
}

async function metaLeaderBy({ monitorUrl }: ClusterNode): Promise<string | undefined> {
  const answer = await fetch(new URL("/jsz", monitorUrl), { signal: AbortSignal.timeout(5000) });
  const { meta_cluster: cluster } = (await answer.json()) as { meta_cluster?: { leader?: string } };
  return cluster?.leader;
}

function anyOf(nodes: readonly ClusterNode[]): ClusterNode {
  const found = nodes.find((node) => node.isWhole());
  if (found === undefined) throw new Error("Every server of the cluster was taken away");
  return found;
}

function namedIn(nodes: readonly ClusterNode[], name: string | undefined): ClusterNode {
  const found = nodes.find((node) => node.name === name && node.isWhole());
  if (found === undefined)
    throw new Error(`The leader is ${name ?? "not known"}; expected one that was not taken away`);
  return found;
}

/** A stream with as many replicas as there are servers can be made only once all of them know each other. */
async function untilReplicasFit(manage: NatsCluster["manage"]): Promise<void> {
  const name = "PROBE";
  await eventually(
    () =>
      manage(async ({ streams }) => {
        await streams.add({ name, subjects: ["probe"], num_replicas: replicas });
        await streams.delete(name);
      }),
    electionMs,
  );
}

async function untilCurrent({ streams }: JetStreamManager): Promise<void> {
  for await (const info of streams.list()) {
    if (!info.cluster?.leader) throw new Error(`${info.config.name} has no leader`);
    const late = lateIn(info);
    if (late.length > 0) throw new Error(`${info.config.name} waits for ${JSON.stringify(late)}`);
  }
}

const lateIn = ({ cluster }: StreamInfo) =>
  cluster?.replicas?.filter(({ current, offline }) => !current || offline) ?? [];

async function electAnew({ streams }: JetStreamManager, connection: NatsConnection): Promise<void> {
  for await (const info of streams.list()) if (lateIn(info).length > 0) await stepDown(connection, info.config.name);
}

const stepDown = (connection: NatsConnection, stream: string): Promise<unknown> =>
  connection.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`, "");
