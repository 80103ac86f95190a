import { expect } from "chai";
import { pino } from "pino";
import type { Condition, Probe } from "../../src/health/probe.ts";
import { createOperatorsApi } from "../../src/http/operators-api.ts";
import { listen } from "../../src/http/server/listen.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

const up = (name: string, details = {}): Probe => ({
  name,
  isNeeded: true,
  check: async () => ({ status: "up", ...details }),
});
const found = (name: string, isNeeded: boolean, condition: Condition): Probe => ({
  name,
  isNeeded,
  check: async () => condition,
});
const down = (name: string, isNeeded: boolean): Probe => ({
  name,
  isNeeded,
  check: async () => {
    throw new Error("connect ECONNREFUSED 10.0.0.7:3306");
  },
});

describe("The health of a process", () => {
  let api: RunningApi;

  afterEach(() => api.close());

  it("is alive as long as it answers, whatever is away", async () => {
    api = await startApi({ probes: [down("nats", true)] });
    expect(await api.ask("GET", "/livez")).to.deep.include({ status: 200, body: { alive: true } });
  });

  it("is ready when everything can be used, each thing by name", async () => {
    api = await startApi({ probes: [up("nats", { durability: "flushed every 2 minutes" }), up("mysql")] });
    expect(await api.ask("GET", "/readyz")).to.deep.include({
      status: 200,
      body: {
        ready: true,
        dependencies: {
          nats: { status: "up", needed: true, durability: "flushed every 2 minutes" },
          mysql: { status: "up", needed: true },
        },
      },
    });
  });

  it("is ready while something is away that its roles can do without", async () => {
    api = await startApi({ probes: [up("nats"), down("mysql", false)] });
    const { status, body } = await api.ask("GET", "/readyz");
    expect(status).to.equal(200);
    expect(body.dependencies.mysql).to.deep.equal({ status: "down", needed: false });
  });

  it("is ready while something that its roles need works in part, and says so", async () => {
    api = await startApi({ probes: [found("nats", true, { status: "degraded", acceptsJobs: false })] });
    const { status, body } = await api.ask("GET", "/readyz");
    expect(status).to.equal(200);
    expect(body.dependencies.nats).to.deep.equal({ status: "degraded", needed: true, acceptsJobs: false });
  });

  it("is not ready while something is away that its roles need", async () => {
    api = await startApi({ probes: [up("nats"), down("mysql", true)] });
    const { status, headers, body } = await api.ask("GET", "/readyz");
    expect(status).to.equal(503);
    expect(headers.get("Content-Type")).to.equal("application/problem+json");
    expect(body).to.deep.include({
      code: "not-ready",
      detail: "Not ready: mysql.",
      ready: false,
      dependencies: { nats: { status: "up", needed: true }, mysql: { status: "down", needed: true } },
    });
    expect(JSON.stringify(body)).not.to.match(/10\.0\.0\.7/);
  });

  it("shows why something that its roles need was found to be away", async () => {
    api = await startApi({ probes: [found("mail", true, { status: "down", breaker: "open" })] });
    const { status, body } = await api.ask("GET", "/readyz");
    expect(status).to.equal(503);
    expect(body.dependencies).to.deep.equal({ mail: { status: "down", needed: true, breaker: "open" } });
  });

  it("is not ready while something that its roles need does not answer", async () => {
    api = await startApi({ probes: [{ name: "nats", isNeeded: true, check: () => new Promise(() => {}) }] });
    const { status, body } = await api.ask("GET", "/readyz");
    expect(status).to.equal(503);
    expect(body.dependencies).to.deep.equal({ nats: { status: "down", needed: true } });
  });
});

describe("The dependencies of a process", () => {
  it("are looked at ten times a second, however many clients ask, who need no key", async () => {
    let looks = 0;
    const counted = { ...up("mysql"), check: async () => ({ status: "up", looks: ++looks }) as const };
    const api = await startApi({ probes: [counted] });
    const answers = await Promise.all(Array.from({ length: 100 }, () => api.ask("GET", "/readyz")));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect(looks).to.be.lessThan(50);
    await api.close();
  });
});

describe("The port for operators", () => {
  it("tells all metrics, also those of a process with many routes", async () => {
    const page = `# ${"x".repeat(300_000)}\n`;
    const metrics = { contentType: "text/plain", print: async () => page };
    const app = createOperatorsApi({ probes: [], metrics, logger: pino({ level: "silent" }) });
    const { url, close } = await listen(app, "127.0.0.1", 0);
    const answer = await fetch(`${url}/metrics`);
    expect({ status: answer.status, page: await answer.text() }).to.deep.equal({ status: 200, page });
    await close();
  });
});
