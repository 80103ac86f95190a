import { expect } from "chai";
import { connect } from "nats";
import { eventually } from "../support/eventually.ts";
import { readCompose } from "./manifests.ts";
import { type ShippedCluster, startKubernetesCluster, startShippedCluster } from "./shipped-cluster.ts";

const electionMs = 45_000;

describe("the configurations of a NATS cluster", function () {
  this.timeout(60_000);

  let cluster: ShippedCluster | null = null;

  afterEach(async () => {
    await cluster?.stop();
    cluster = null;
  });

  async function expectThreeCopiesOn({ config, names, lastWords }: ShippedCluster): Promise<void> {
    const { servers, user, password } = config;
    const login = { servers: [...servers], user: user ?? "", pass: password ?? "" };
    const nats = await eventually(() => connect(login), electionMs);
    try {
      const { streams } = await nats.jetstreamManager({ checkAPI: false });
      const add = () => streams.add({ name: "PROBE", subjects: ["probe"], num_replicas: names.length });
      const stream = await eventually(add, electionMs).catch(async (cause: unknown) => {
        throw new Error(`No stream with ${names.length} copies: ${await lastWords()}`, { cause });
      });
      const members = [stream.cluster?.leader, ...(stream.cluster?.replicas ?? []).map(({ name }) => name)];
      expect(members).to.have.members(names);
    } finally {
      await nats.close();
    }
  }

  it("make one of the three servers of Compose", async () => {
    const { configs, services } = await readCompose();
    const names = Object.keys(services).filter((name) => services[name].image.startsWith("nats:"));
    cluster = await startShippedCluster(configs["nats-cluster"].content, names);
    await expectThreeCopiesOn(cluster);
  });

  it("make one of the three servers of Kubernetes", async () => {
    cluster = await startKubernetesCluster();
    await expectThreeCopiesOn(cluster);
  });
});
