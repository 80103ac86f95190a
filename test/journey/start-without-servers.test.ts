import { expect } from "chai";
import { eventually } from "../support/eventually.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { type LaunchedWaybill, launchWaybill } from "../support/waybill.ts";

/** A process of node needs a second or two of CPU before anything of ours runs, and other tests run beside it. */
const startMs = 40_000;
/** At once, and not when a wait is over. */
const stopMs = 5000;

type Line = { readonly msg?: string } & Readonly<Record<string, unknown>>;

describe("a process that is started while NATS is unavailable", function () {
  this.timeout(120_000);

  let stage: Stage;
  let proxy: TcpProxy;
  let waybill: LaunchedWaybill | null = null;

  before(async () => {
    stage = await setStage();
    const [server = ""] = stage.nats.config.servers;
    proxy = await startTcpProxy({ host: "127.0.0.1", port: Number(server.split(":").at(-1)) });
  });
  afterEach(async () => {
    await waybill?.kill();
    waybill = null;
    await proxy.restore();
  });
  after(async () => {
    await proxy?.stop();
    await stage?.cleanUp();
  });

  function launch(roles: string, env: Readonly<Record<string, string>> = {}): LaunchedWaybill {
    const { nats } = stage;
    const config = { ...nats.config, servers: [`127.0.0.1:${proxy.port}`] };
    const surroundings = { ...stage.surroundings, nats: { config, prefix: nats.prefix } };
    waybill = launchWaybill(surroundings, roles, { LOG_LEVEL: "info", ...env });
    return waybill;
  }
  const linesOf = ({ output }: LaunchedWaybill): readonly Line[] =>
    output()
      .split("\n")
      .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Line] : []));
  const waits = (process: LaunchedWaybill): readonly Line[] =>
    linesOf(process).filter(({ msg }) => msg === "waiting for a server");
  const addressOf = (process: LaunchedWaybill, door: string): Promise<string> =>
    eventually(() => {
      const line = linesOf(process).find(({ msg, part }) => msg === "listening" && part === door);
      if (line === undefined) throw new Error(`It does not listen: ${process.output()}`);
      return String(line["url"]);
    }, startMs);
  const ready = (url: string): Promise<unknown> =>
    eventually(async () => expect((await fetch(`${url}/readyz`)).status).to.equal(200), startMs);

  for (const [what, takeAway] of [
    ["no server listens at its address", () => proxy.cut()],
    ["it takes connections and says nothing", async () => proxy.stall()],
  ] as const) {
    it(`lives, says what it waits for, and begins when that is there: ${what}`, async () => {
      await takeAway();
      const process = launch("api,worker,scheduler");
      const url = await addressOf(process, "api");
      const alive = await fetch(`${url}/livez`);
      expect([alive.status, await alive.json()]).to.deep.equal([200, { alive: true }]);

      const readiness = await fetch(`${url}/readyz`);
      expect(readiness.status).to.equal(503);
      const body = (await readiness.json()) as { detail: string; dependencies: Record<string, object> };
      expect(body.detail).to.match(/\bnats\b/);
      expect(body.dependencies["nats"]).to.include({ status: "down", needed: true });
      const refused = await fetch(`${url}/api/jobs`, { method: "POST", body: "{}" });
      expect([refused.status, refused.headers.get("retry-after")]).to.deep.equal([503, "5"]);

      await eventually(() => expect(waits(process).length).to.be.greaterThan(1), 20_000);
      expect(waits(process)[1]).to.deep.include({ server: "nats", address: `127.0.0.1:${proxy.port}` });

      await proxy.restore();
      await ready(url);
      expect(process.hasEnded()).to.equal(false);
    });

    it(`ends at once with 0 when it is told to: ${what}`, async () => {
      await takeAway();
      const process = launch("api,worker,scheduler");
      await addressOf(process, "api");
      await eventually(() => expect(waits(process)).not.to.be.empty);
      const toldAt = performance.now();
      expect(await process.terminate()).to.equal(0);
      expect(performance.now() - toldAt).to.be.lessThan(stopMs);
    });
  }

  it("ends at once with 0, projectors in a thread of their own and all", async () => {
    const process = launch("api,worker,projector");
    await eventually(() => expect(process.output()).to.include("waybill is ready"), startMs);
    await process.kill();
    await proxy.cut();
    const again = launch("api,worker,projector");
    await addressOf(again, "api");
    const toldAt = performance.now();
    expect(await again.terminate()).to.equal(0);
    expect(performance.now() - toldAt).to.be.lessThan(stopMs);
  });

  it("begins all the same where NATS answers more slowly than a request of the service waits", async () => {
    proxy.slowDown({ latencyMs: 900, bytesPerSecond: 1_000_000 });
    const process = launch("api,worker,scheduler,webhooks,outbox");
    const url = await addressOf(process, "api");
    await eventually(() => expect(waits(process)).not.to.be.empty, 30_000);
    expect(process.hasEnded()).to.equal(false);
    await proxy.restore();
    await ready(url);
  });

  it("answers for its health where it plays no API", async () => {
    await proxy.cut();
    const process = launch("worker", { HEALTH_PORT: "0" });
    const url = await addressOf(process, "health");
    expect((await fetch(`${url}/livez`)).status).to.equal(200);
    expect((await fetch(`${url}/readyz`)).status).to.equal(503);
    await proxy.restore();
    await ready(url);
    expect((await fetch(`${url}/metrics`)).status).to.equal(200);
  });

  it("does not wait where NATS refuses the login, and says what to set", async () => {
    const process = launch("api,worker", { NATS_USER: "nobody", NATS_PASSWORD: "wrong-password" });
    expect(await process.exitCode()).to.equal(1);
    expect(process.output()).to.match(/NATS at 127\.0\.0\.1:\d+ refuses the login\nCheck NATS_USER and NATS_PASSWORD/);
    expect(process.output()).not.to.include("wrong-password");
  });
});
