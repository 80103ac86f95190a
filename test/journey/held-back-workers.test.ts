import { expect } from "chai";
import { eventually } from "../support/eventually.ts";
import type { OwnNats } from "../support/services.ts";
import { type Stage, setStageOnOwnNats } from "../support/stage.ts";
import { spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

type Line = { readonly msg?: string; readonly type?: string } & Readonly<Record<string, unknown>>;
type Readiness = { readonly ready: boolean; readonly dependencies: Readonly<Record<string, Record<string, unknown>>> };

/** The process waits for some seconds before it says anything, and a busy machine for some more. */
const patienceMs = 40_000;

describe("a worker that cannot take work", function () {
  this.timeout(120_000);

  let stage: Stage<OwnNats>;
  let waybill: WaybillProcess;

  before(async () => {
    stage = await setStageOnOwnNats();
    waybill = await spawnWaybill(stage.surroundings, "api,scheduler,worker", {
      LOG_LEVEL: "info",
    });
  });
  afterEach(async () => {
    await stage.nats.resume();
  });
  after(async () => {
    await waybill?.kill();
    await stage?.cleanUp();
  });

  const lines = (): readonly Line[] =>
    waybill
      .output()
      .split("\n")
      .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Line] : []));
  const said = (msg: string, reason: string): readonly Line[] =>
    lines().filter((line) => line.msg === msg && line.type === "email.send" && line["reason"] === reason);
  const saysThatItTakesNone = (reason: string): Promise<Line> =>
    eventually(() => {
      const [line] = said("the worker takes no work", reason);
      if (line === undefined) throw new Error(`It is silent: ${waybill.output()}`);
      return line;
    }, patienceMs);
  const saysThatItGoesOn = (reason: string): Promise<Line> =>
    eventually(() => {
      const [line] = said("the worker takes work again", reason);
      if (line === undefined) throw new Error(`It is silent: ${waybill.output()}`);
      return line;
    }, patienceMs);
  const readyz = async (): Promise<Readiness> => (await (await fetch(`${waybill.url}/readyz`)).json()) as Readiness;
  const isWell = () =>
    eventually(async () => {
      const { ready, dependencies } = await readyz();
      expect({ ready, workers: dependencies["workers"] }).to.deep.equal({
        ready: true,
        workers: { status: "up", needed: false },
      });
    }, patienceMs);

  it("says so once, shows it, and says when it goes on, where NATS does not answer", async () => {
    await isWell();
    const frozenAt = Date.now();
    stage.nats.suspend();
    const { since } = await saysThatItTakesNone("log-away");
    expect(Date.parse(String(since))).to.be.within(frozenAt - 1000, Date.now());
    const { workers } = (await readyz()).dependencies;
    expect(workers).to.include({ status: "degraded", needed: false });
    expect(workers?.["standstills"]).to.deep.include({ type: "email.send", reason: "log-away", since });

    await stage.nats.resume();
    expect((await saysThatItGoesOn("log-away"))["forSeconds"]).to.be.at.least(5);
    await isWell();
    expect(said("the worker takes no work", "log-away")).to.have.lengthOf(1);
  });

  it("does so as well where jobs wait for a mail server that is away", async () => {
    await isWell();
    await stage.mailServer.stop();
    for (let job = 0; job < 8; job += 1) {
      const body = { subject: "Hello", body: "Hello", recipients: [{ email: `person${job}@example.com` }] };
      const headers = { "Content-Type": "application/json" };
      const answer = await fetch(`${waybill.url}/api/jobs`, { method: "POST", headers, body: JSON.stringify(body) });
      expect(answer.status).to.equal(201);
    }
    const { since } = await saysThatItTakesNone("mail-server-away");
    const { ready, dependencies } = await readyz();
    expect(ready).to.equal(true);
    expect(dependencies["workers"]).to.deep.equal({
      status: "degraded",
      needed: false,
      standstills: [{ type: "email.send", reason: "mail-server-away", since }],
    });

    const aboutRoute = (msg: string) => lines().filter((line) => line.msg === msg && line["route"] === "default");
    const [why] = aboutRoute("mail route failed; retrying");
    expect(why?.["error"]).to.match(/^The mail server cannot be used: ECONN/);

    await stage.mailServer.start();
    await saysThatItGoesOn("mail-server-away");
    expect(aboutRoute("mail route is running again")).to.have.lengthOf(1);
    await eventually(() => expect(stage.mailServer.mails).not.to.be.empty, patienceMs);
    await isWell();
  });
});
