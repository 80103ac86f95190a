import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isAtLeast } from "../../src/nats/server-version.ts";
import type { NatsConfig } from "../../src/settings/config.ts";
import { type ChildServer, startChildServer } from "../../src/standalone/child-server.ts";
import { findFreePort } from "../support/free-port.ts";
import { locateOwnBinaries, ownNatsVersion } from "../support/own-binaries.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readManifests } from "./manifests.ts";

const password = "inside";

type Node = { readonly name: string; readonly client: number; readonly cluster: number; readonly monitor: number };

/** The configuration as it is, with the addresses, folders and secrets of this machine. */
function onThisMachine(text: string, node: Node, nodes: readonly Node[], folder: string): string {
  const portOf = (host: string): number => nodes.find(({ name }) => name === host)?.cluster ?? 1;
  return text
    .replaceAll("0.0.0.0", "127.0.0.1")
    .replace("port: 4222", `port: ${node.client}`)
    .replace("port: 6222", `port: ${node.cluster}`)
    .replace(/http: (127\.0\.0\.1:)?8222/, `http: 127.0.0.1:${node.monitor}`)
    .replace("/data", join(folder, node.name))
    .replaceAll(/nats:\/\/([\w-]+)(\.nats)?:6222/g, (_, host: string) => `nats://127.0.0.1:${portOf(host)}`)
    .replace("$POD_NAME", node.name)
    .replace("$NATS_PASSWORD", password);
}

export type ShippedCluster = {
  readonly names: readonly string[];
  readonly config: NatsConfig;
  readonly pids: readonly number[];
  /** The last lines of each server's log, for an error message. */
  lastWords(): Promise<string>;
  stop(): Promise<void>;
};

/** Servers with a configuration from `compose.yaml` or `ops/kubernetes`. They find each other a moment later. */
export async function startShippedCluster(text: string, names: readonly string[]): Promise<ShippedCluster> {
  const { nats: binary } = await locateOwnBinaries();
  const folder = await temporaryFolder();
  const knowsSyncInterval = isAtLeast(await ownNatsVersion(), [2, 10]);
  const nodes: Node[] = [];
  for (const name of names) {
    const [client, cluster, monitor] = [await findFreePort(), await findFreePort(), await findFreePort()];
    nodes.push({ name, client, cluster, monitor });
  }
  const running: ChildServer[] = [];
  for (const node of nodes) {
    const config = onThisMachine(text, node, nodes, folder);
    const configFile = join(folder, `${node.name}.conf`);
    await writeFile(configFile, knowsSyncInterval ? config : config.replace(/sync_interval: .*/, ""));
    const args = ["--config", configFile, "--name", node.name];
    running.push(await startChildServer({ name: node.name, binary, args, folder }));
  }
  const servers = nodes.map(({ client }) => `127.0.0.1:${client}`);
  return {
    names,
    pids: running.map(({ pid }) => pid),
    config: { servers, user: "waybill", password, credsFile: null, caFile: null, isOwn: false },
    lastWords: async () => (await Promise.all(running.map((server) => server.lastWords()))).join("\n"),
    stop: async () => {
      await Promise.all(running.map((server) => server.kill()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function startKubernetesCluster(): Promise<ShippedCluster> {
  const all = (await readManifests("ops/kubernetes/")).map(({ manifest }) => manifest);
  const named = (kind: string) => all.find((one) => one.kind === kind && one.metadata.name === "nats");
  const names = Array.from({ length: named("StatefulSet").spec.replicas }, (_, index) => `nats-${index}`);
  return await startShippedCluster(named("ConfigMap").data["nats.conf"], names);
}
