import { access } from "node:fs/promises";
import { expect } from "chai";
import { roles } from "../../src/settings/config.ts";
import { expectValidSettings, type Manifest, readCompose, readText } from "./manifests.ts";
import { secrets, secretsOf } from "./role-secrets.ts";

const root = new URL("../../", import.meta.url);
/** After SHUTDOWN_TIMEOUT, what the program takes to end whatever hangs. */
const endingMs = 2000;

/** The file as compose fills it in without any setting. */
const withDefaults = (text: string): string => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1");

describe("the compose file", () => {
  let compose: Manifest;
  const services = (): readonly (readonly [string, Manifest])[] => Object.entries(compose.services);
  const ownServices = () => services().filter(([, { image }]) => image === "waybill");
  const settingsOf = (service: Manifest): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(service.environment).map(([name, value]) => [name, withDefaults(String(value))]));

  before(async () => {
    compose = await readCompose();
  });

  it("runs each role by itself, with settings that the program knows and takes", () => {
    expect(ownServices().map(([name]) => name)).to.have.members([...roles]);
    for (const [name, service] of ownServices()) {
      const config = expectValidSettings(settingsOf(service), name);
      expect([...config.roles]).to.deep.equal([name]);
      expect(service.healthcheck.test.join(" ")).to.include(`127.0.0.1:${config.healthPort}/readyz`);
      expect(Number.parseInt(service.stop_grace_period, 10) * 1000).to.be.greaterThan(
        config.shutdownTimeoutMs + endingMs,
      );
    }
  });

  it("tells every role the same of what one takes and another one carries out", () => {
    const shared = ["NATS_URL", "MYSQL_URL", "MAIL_FROM", "WEBHOOK_ALLOW", "PUBLIC_URL"];
    for (const setting of [...shared, "RETENTION_DAYS", "JOBS_MAX_BYTES"]) {
      const said = new Set(ownServices().map(([, { environment }]) => environment[setting]));
      expect(said, setting).to.have.property("size", 1);
      expect([...said][0], setting).to.be.a("string");
    }
  });

  it("gives each role the secrets that it reads, and no other; those of two roles are the same", () => {
    for (const secret of secrets) {
      const given = ownServices().filter(([, { environment }]) => environment[secret] !== undefined);
      const readers = roles.filter((role) => secretsOf[role].includes(secret));
      // NATS asks for no password inside this network.
      expect(
        given.map(([name]) => name),
        secret,
      ).to.have.members(secret === "NATS_PASSWORD" ? [] : readers);
    }
    const signing = new Set(["worker", "webhooks"].map((role) => compose.services[role].environment["WEBHOOK_SECRET"]));
    expect(signing).to.have.property("size", 1);
  });

  it("looks after everything it starts: whether it is well, that it comes back, and that its data stays", () => {
    for (const [name, service] of services()) {
      expect(service.healthcheck?.test, name).to.be.an("array");
      expect(service.restart, name).to.equal("unless-stopped");
      for (const volume of service.volumes ?? []) {
        const [source] = volume.split(":");
        if (!source.startsWith(".")) expect(compose.volumes, name).to.have.property(source);
      }
      for (const dependency of Object.keys(service.depends_on ?? {})) {
        expect(service.depends_on[dependency], name).to.deep.equal({ condition: "service_healthy" });
        expect(compose.services[dependency].healthcheck, dependency).to.be.an("object");
      }
    }
    for (const name of ["nats", "mysql"]) expect(compose.services[name].volumes, name).to.have.length(1);
  });

  it("runs three servers of NATS on request, and keeps as many copies of each stream", async () => {
    const lines = (await readText("ops/compose/cluster.env")).split("\n").filter((line) => /^\w/.test(line));
    const asked = new Map(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
    const filled = (text: string): string =>
      withDefaults(text.replaceAll(/\$\{(\w+):-[^}]*\}/g, (all, name: string) => asked.get(name) ?? all));
    const started = services().filter(([, { profiles = [] }]) => profiles.includes(asked.get("COMPOSE_PROFILES")));
    const servers = ["nats", ...started.map(([name]) => name)];
    for (const [name, { environment }] of ownServices()) {
      const settings = Object.entries(environment).map(([key, value]) => [key, filled(String(value))]);
      const { nats, streamReplicas } = expectValidSettings(Object.fromEntries(settings), name);
      expect(nats?.servers).to.have.members(servers.map((server) => `nats://${server}:4222`));
      expect(streamReplicas).to.equal(servers.length);
    }
    for (const server of servers) {
      const { command, configs, volumes } = compose.services[server];
      const file = filled(command[1]);
      const { source } = configs.find(({ target }: Manifest) => target === file);
      expect(compose.configs[source].content, server).to.include(`nats://${server}:6222`);
      expect(command.slice(-2)).to.deep.equal(["--name", server]);
      expect(volumes).to.deep.equal([`${server}:/data`]);
    }
  });

  it("names files that are there", async () => {
    const files = services().flatMap(([, { volumes = [] }]) =>
      volumes.map((volume: string) => volume.split(":")[0]).filter((source: string) => source.startsWith("./")),
    );
    expect(files).not.to.be.empty;
    for (const file of files) await access(new URL(file, root));
  });

  it("contains passwords only for servers that cannot be reached from outside", () => {
    const open = services().filter(([, { ports }]) => ports !== undefined);
    for (const [name, { ports, environment = {} }] of open) {
      for (const port of ports) expect(port, name).to.match(/^127\.0\.0\.1:\d+:\d+$/);
      // A URL with one in it is what the service itself uses, on its way inside.
      expect(
        Object.keys(environment).filter((setting) => /PASSWORD$/.test(setting)),
        name,
      ).to.deep.equal([]);
    }
    for (const name of ["nats", "mysql"]) expect(compose.services[name], name).not.to.have.property("ports");
    expect(compose.services.api.environment).to.include({ AUTH: "required" });
    expect(compose.services.grafana.environment).to.include({
      GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: "true",
      GF_AUTH_DISABLE_LOGIN_FORM: "true",
    });
  });

  it("starts the observability only on request, and watches every role there", () => {
    for (const name of ["prometheus", "grafana"]) {
      expect(compose.services[name].profiles).to.deep.equal(["observability"]);
    }
    const always = services().filter(([, { profiles }]) => profiles === undefined);
    expect(always.map(([name]) => name)).to.have.members([...roles, "nats", "mysql", "mailpit"]);
  });
});
