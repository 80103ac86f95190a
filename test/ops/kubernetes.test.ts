import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { healthRoutes } from "../../src/http/routes/service.ts";
import { isAtLeast } from "../../src/nats/server-version.ts";
import { type Role, roles } from "../../src/settings/config.ts";
import { locateOwnBinaries } from "../support/own-binaries.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { expectValidSettings, type Manifest, readCompose, readManifests, readText } from "./manifests.ts";
import { secretsOf } from "./role-secrets.ts";

const folder = "ops/kubernetes/";
/** After SHUTDOWN_TIMEOUT, what the program takes to end whatever hangs. */
const endingMs = 2000;

describe("the manifests for Kubernetes", () => {
  let all: readonly { readonly file: string; readonly manifest: Manifest }[];
  let compose: Manifest;
  let secretKeys: ReadonlyMap<string, string>;

  const ofKind = (kind: string): readonly Manifest[] =>
    all.map(({ manifest }) => manifest).filter((manifest) => manifest.kind === kind);
  const named = (kind: string, name: string): Manifest => ofKind(kind).find(({ metadata }) => metadata.name === name);
  const deployments = (): readonly Manifest[] => ofKind("Deployment");
  const pods = (): readonly Manifest[] => [...deployments(), ...ofKind("StatefulSet")];
  const containerOf = ({ spec }: Manifest): Manifest => spec.template.spec.containers[0];
  /** As the container sees them, with something valid for each secret. */
  const settingsOf = (deployment: Manifest): Readonly<Record<string, string>> => {
    const { envFrom, env } = containerOf(deployment);
    const shared = envFrom.map(({ configMapRef }: Manifest) => named("ConfigMap", configMapRef.name).data);
    const own = env.map(({ name, value }: Manifest) => [name, value ?? examples[name] ?? "secret"]);
    return Object.assign({}, ...shared, Object.fromEntries(own));
  };
  const examples: Readonly<Record<string, string>> = {
    MYSQL_URL: "mysql://waybill:secret@mysql:3306/waybill",
    SMTP_URL: "smtps://user:secret@mail.example.com:465",
  };

  before(async () => {
    all = await readManifests(folder);
    compose = await readCompose();
    const lines = (await readText(`${folder}secret.env.template`)).split("\n").filter((line) => /^[^#]/.test(line));
    secretKeys = new Map(lines.map((line) => [line.split("=")[0] ?? "", line.slice(line.indexOf("=") + 1)]));
  });

  it("are all named in the kustomization, and nothing else is", () => {
    const files = new Set(all.map(({ file }) => file).filter((file) => file !== "kustomization.yaml"));
    expect(new Set(ofKind("Kustomization")[0].resources)).to.deep.equal(files);
    expect(all.every(({ manifest }) => manifest.apiVersion && manifest.kind)).to.equal(true);
  });

  it("have a deployment for each role, with settings that the program knows and takes", () => {
    expect(new Set(deployments().map(({ metadata }) => metadata.name))).to.deep.equal(new Set(roles));
    for (const deployment of deployments()) {
      const { name } = deployment.metadata;
      const { roles: played, healthPort, nats, streamReplicas } = expectValidSettings(settingsOf(deployment), name);
      expect([...played]).to.deep.equal([name]);
      expect(healthPort).to.equal(portOf(deployment, "health"));
      expect(nats?.servers).to.have.length(streamReplicas);
      expect(streamReplicas).to.equal(named("StatefulSet", "nats").spec.replicas);
    }
  });

  const portOf = (workload: Manifest, port: string): number =>
    containerOf(workload).ports.find(({ name }: Manifest) => name === port)?.containerPort;

  it("ask for health where it is answered", () => {
    // Only the paths are needed, so nothing is logged.
    const answered = healthRoutes({ probes: [], logger: null as never }).map(({ path }) => path);
    for (const deployment of deployments()) {
      const container = containerOf(deployment);
      for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"]) {
        const { path, port } = container[probe].httpGet;
        expect(answered, probe).to.include(path);
        expect(portOf(deployment, port), `${deployment.metadata.name} ${probe}`).to.be.a("number");
      }
      expect(container.readinessProbe.httpGet.path).to.equal("/readyz");
      expect(container.livenessProbe.httpGet.path, "what is away is no reason to be killed").to.equal("/livez");
    }
  });

  it("take no NATS server away for an update before the copies of the last one are up to date", () => {
    const { startupProbe, readinessProbe } = containerOf(named("StatefulSet", "nats"));
    expect(startupProbe.httpGet.path).to.equal("/healthz");
    expect(readinessProbe.httpGet.path, "a client may ask one that is behind").to.equal("/healthz?js-server-only=true");
  });

  it("give each role the secrets that it reads, and no other", () => {
    for (const deployment of deployments()) {
      const { name } = deployment.metadata;
      const given = containerOf(deployment).env.flatMap(({ name: setting, valueFrom }: Manifest) =>
        valueFrom?.secretKeyRef === undefined ? [] : [setting],
      );
      const read: readonly string[] = secretsOf[name as Role];
      expect(read, name).to.include.members(given);
      // Webhooks are signed with a secret that Waybill makes, and alerts are not mailed, unless settings say so.
      const isOptional = (secret: string): boolean =>
        secret === "WEBHOOK_SECRET" || (secret === "SMTP_URL" && name === "webhooks");
      expect(given, name).to.include.members(read.filter((secret) => !isOptional(secret)));
    }
  });

  it("let nothing reach a process but what a policy names, by ports that the process has", () => {
    const policies = ofKind("NetworkPolicy");
    for (const workload of pods()) {
      const { labels } = workload.spec.template.metadata;
      const own = policies.filter(({ spec }) =>
        Object.entries(spec.podSelector.matchLabels).every(([label, value]) => labels[label] === value),
      );
      expect(own, workload.metadata.name).not.to.have.length(0);
    }
    for (const { metadata, spec } of policies) {
      expect(spec.policyTypes, metadata.name).to.deep.equal(["Ingress"]);
      const met = pods().filter(({ spec: of }) =>
        Object.entries(spec.podSelector.matchLabels).every(
          ([label, value]) => of.template.metadata.labels[label] === value,
        ),
      );
      for (const { port } of spec.ingress.flatMap(({ ports }: Manifest) => ports)) {
        for (const workload of met) {
          const ports = containerOf(workload).ports.flatMap(({ name, containerPort }: Manifest) => [
            name,
            containerPort,
          ]);
          expect(ports, `${metadata.name} of ${workload.metadata.name}`).to.include(port);
        }
      }
    }
  });

  it("lead from the ingress to the API, over TLS", () => {
    const [{ spec }] = ofKind("Ingress");
    const [{ host, http }] = spec.rules;
    const { service } = http.paths[0].backend;
    expect(spec.tls[0].hosts).to.deep.equal([host]);
    expect(named("Service", service.name).spec.ports[0].name).to.equal(service.port.name);
  });

  it("drain a node without ending all processes of a role that has several", () => {
    const budgets = new Set(ofKind("PodDisruptionBudget").map(({ metadata }) => metadata.name));
    const several = pods().filter(({ spec }) => spec.replicas > 1);
    expect([...budgets]).to.have.members(several.map(({ metadata }) => metadata.name));
  });

  it("drain a node also while all processes of a role wait for a server, and none of them is ready", () => {
    for (const role of roles) {
      const budget = named("PodDisruptionBudget", role);
      if (budget !== undefined) expect(budget.spec.unhealthyPodEvictionPolicy, role).to.equal("AlwaysAllow");
    }
  });

  it("have services, addresses and budgets that meet what they name", () => {
    for (const { metadata, spec } of [...ofKind("Service"), ...ofKind("PodDisruptionBudget")]) {
      const wanted = Object.entries(spec.selector.matchLabels ?? spec.selector);
      const met = pods().filter(({ spec: of }) =>
        wanted.every(([label, value]) => of.template.metadata.labels[label] === value),
      );
      expect(met, metadata.name).to.have.length(1);
      for (const { port, targetPort = port } of spec.ports ?? []) {
        const ports = containerOf(met[0]).ports.flatMap(({ name, containerPort }: Manifest) => [name, containerPort]);
        expect(ports, metadata.name).to.include(targetPort);
      }
    }
    for (const { metadata, spec } of pods()) {
      expect(spec.template.metadata.labels, metadata.name).to.include(spec.selector.matchLabels);
    }
    expect(portOf(named("Deployment", "api"), "http")).to.equal(3000);
  });

  it("give every process time to end: longer than the program takes", () => {
    for (const deployment of deployments()) {
      const { terminationGracePeriodSeconds } = deployment.spec.template.spec;
      const [, pause = "0"] = containerOf(deployment).lifecycle?.preStop.exec.command ?? [];
      const { shutdownTimeoutMs } = expectValidSettings(settingsOf(deployment), deployment.metadata.name);
      expect(terminationGracePeriodSeconds * 1000).to.be.greaterThan(
        Number(pause) * 1000 + shutdownTimeoutMs + endingMs,
      );
    }
  });

  it("run nothing as root, write to no image, and ask for what they need", () => {
    for (const workload of pods()) {
      const { spec } = workload.spec.template;
      const { securityContext, resources } = containerOf(workload);
      const { name } = workload.metadata;
      expect(spec.securityContext, name).to.deep.include({
        runAsNonRoot: true,
        seccompProfile: { type: "RuntimeDefault" },
      });
      expect(spec.securityContext.runAsUser, name).to.be.greaterThan(0);
      expect(spec.automountServiceAccountToken, name).to.equal(false);
      expect(securityContext, name).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(Object.keys(resources.requests), name).to.have.members(["cpu", "memory"]);
      expect(resources.limits, name).to.have.property("memory");
    }
  });

  it("take every secret from a template that has a place for it, and a value for none", () => {
    const asked = pods().flatMap((workload) =>
      containerOf(workload).env.flatMap(({ valueFrom }: Manifest) => valueFrom?.secretKeyRef ?? []),
    );
    expect(new Set(asked.map(({ name }) => name))).to.deep.equal(new Set(["waybill"]));
    expect(new Set(asked.map(({ key }) => key))).to.deep.equal(new Set(secretKeys.keys()));
    expect([...secretKeys.values()].filter((value) => value !== "")).to.deep.equal([]);
    const texts = JSON.stringify(all);
    expect(texts).not.to.match(/:\/\/[^:/"]+:[^@/"]+@/);
  });

  it("run the images of the compose file", () => {
    const images = new Map(pods().map((workload) => [workload.metadata.name, containerOf(workload).image]));
    expect(images.get("nats")).to.equal(compose.services.nats.image);
    expect(images.get("mysql")).to.equal(compose.services.mysql.image);
    for (const { metadata } of deployments()) expect(images.get(metadata.name)).to.equal(compose.services.api.image);
    expect(ofKind("Kustomization")[0].images.map(({ name }: Manifest) => name)).to.deep.equal([
      compose.services.api.image,
    ]);
    expect(containerOf(named("StatefulSet", "mysql")).args).to.deep.equal(compose.services.mysql.command);
  });

  it("limit the log to less than its servers store, so that what was accepted finds room when new jobs are refused", () => {
    const [, gigabytes] = /max_file_store: (\d+)GB/.exec(named("ConfigMap", "nats").data["nats.conf"]) ?? [];
    const stored = Number(gigabytes) * 1024 ** 3;
    expect(Number(named("ConfigMap", "waybill").data.JOBS_MAX_BYTES)).to.be.within(stored / 3, stored * 0.8);
  });

  it("have a configuration that NATS takes", async () => {
    const { nats: binary } = await locateOwnBinaries();
    const run = promisify(execFile);
    const { stdout: version } = await run(binary, ["--version"]);
    const text: string = named("ConfigMap", "nats").data["nats.conf"];
    // The image's server knows it; one before 2.10 takes it for a fault.
    const known = isAtLeast(version.replace(/^.* v/, ""), [2, 10]) ? text : text.replace("sync_interval: always", "");
    const home = await temporaryFolder();
    await writeFile(join(home, "nats.conf"), known);
    const env = { PATH: process.env["PATH"], POD_NAME: "nats-0", NATS_PASSWORD: "w0e0" };
    const { stderr } = await run(binary, ["-t", "-c", join(home, "nats.conf")], { env });
    expect(stderr).to.include("is valid");
    await rm(home, { recursive: true });
  });
});
