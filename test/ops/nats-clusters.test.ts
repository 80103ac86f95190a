import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { connect } from "nats";
import { isAtLeast } from "../../src/nats/server-version.ts";
import { type ChildServer, startChildServer } from "../../src/standalone/child-server.ts";
import { versionOf } from "../../src/standalone/find-binary.ts";
import { eventually } from "../support/eventually.ts";
import { findFreePort } from "../support/free-port.ts";
import { locateOwnBinaries } from "../support/own-binaries.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readCompose, readManifests } from "./manifests.ts";

const electionMs = 45_000;
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

describe("the configurations of a NATS cluster", function () {
  this.timeout(60_000);

  const running: ChildServer[] = [];
  const folders: string[] = [];

  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.kill()));
    await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
  });

  async function startNodes(text: string, names: readonly string[]): Promise<readonly Node[]> {
    const { nats: binary } = await locateOwnBinaries();
    const folder = await temporaryFolder();
    folders.push(folder);
    const isKnown = isAtLeast((await versionOf(binary)).replace(/^.*v/, ""), [2, 10]);
    const nodes: Node[] = [];
    for (const name of names) {
      const [client, cluster, monitor] = [await findFreePort(), await findFreePort(), await findFreePort()];
      nodes.push({ name, client, cluster, monitor });
    }
    for (const node of nodes) {
      const config = onThisMachine(text, node, nodes, folder);
      const configFile = join(folder, `${node.name}.conf`);
      // The one setting that servers before 2.10 refuse.
      await writeFile(configFile, isKnown ? config : config.replace(/sync_interval: .*/, ""));
      const args = ["--config", configFile, "--name", node.name];
      running.push(await startChildServer({ name: node.name, binary, args, folder }));
    }
    return nodes;
  }

  async function expectToStoreThreeCopies(nodes: readonly Node[]): Promise<void> {
    const servers = nodes.map(({ client }) => `127.0.0.1:${client}`);
    const nats = await eventually(() => connect({ servers, user: "waybill", pass: password }), electionMs);
    try {
      const { streams } = await nats.jetstreamManager({ checkAPI: false });
      const add = () => streams.add({ name: "PROBE", subjects: ["probe"], num_replicas: nodes.length });
      const { cluster } = await eventually(add, electionMs);
      const members = [cluster?.leader, ...(cluster?.replicas ?? []).map(({ name }) => name)];
      expect(members).to.have.members(nodes.map(({ name }) => name));
    } finally {
      await nats.close();
    }
  }

  it("make one of the three servers of Compose", async () => {
    const { configs, services } = await readCompose();
    const names = Object.keys(services).filter((name) => services[name].image.startsWith("nats:"));
    await expectToStoreThreeCopies(await startNodes(configs["nats-cluster"].content, names));
  });

  it("make one of the three servers of Kubernetes", async () => {
    const all = (await readManifests("ops/kubernetes/")).map(({ manifest }) => manifest);
    const named = (kind: string) => all.find((one) => one.kind === kind && one.metadata.name === "nats");
    const names = Array.from({ length: named("StatefulSet").spec.replicas }, (_, index) => `nats-${index}`);
    await expectToStoreThreeCopies(await startNodes(named("ConfigMap").data["nats.conf"], names));
  });
});
