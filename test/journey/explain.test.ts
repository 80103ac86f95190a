import { expect } from "chai";
import { eventually } from "../support/eventually.ts";
import { mailing } from "../support/running-api.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

// biome-ignore lint/suspicious/noExplicitAny: the test looks into answers whose shape is what it tests.
type Json = any;

describe("why something waits", function () {
  this.timeout(90_000);

  let stage: Stage;
  let waybill: Waybill;
  let worker: Waybill | null = null;

  before(async () => {
    stage = await setStage();
    waybill = await startWaybill(stage.surroundings, { ROLES: "api,scheduler,projector" });
  });
  after(async () => {
    await worker?.stop();
    await waybill.stop();
    await stage.cleanUp();
  });

  const ask = async (method: string, path: string, body?: object | string): Promise<Json> => {
    const type = typeof body === "string" ? "application/x-ndjson" : "application/json";
    const sent = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(waybill.url + path, {
      method,
      ...(body === undefined ? {} : { headers: { "Content-Type": type }, body: sent }),
    });
    expect(response.ok, `${method} ${path}: ${response.status}`).to.equal(true);
    return response.json();
  };
  const create = async (more: object = {}): Promise<string> =>
    (await ask("POST", "/api/jobs", { ...mailing, ...more })).jobId;
  const explain = (what: string): Promise<Json> => ask("GET", `/api/${what}/explain`);
  const codes = ({ reasons }: Json): readonly string[] => reasons.map(({ code }: Json) => code);
  const explained = (what: string, expected: readonly string[]): Promise<Json> =>
    eventually(async () => {
      const answer = await explain(what);
      expect({ codes: codes(answer), notKnown: answer.notKnown }).to.deep.equal({ codes: expected, notKnown: [] });
      return answer;
    }, 20_000);

  let first: string;
  let second: string;
  let grouped: readonly string[];
  let mailingId: string;

  it("is that no worker is there, and that other jobs of the tenant wait, too", async () => {
    first = await create();
    await explained(`jobs/${first}`, ["no-worker"]);
    second = await create();
    const { status, reasons } = await explained(`jobs/${second}`, ["no-worker", "jobs-ahead"]);
    expect(status).to.equal("queued");
    expect(reasons[1].message).to.match(/^1 job of yours/);
    const urgent = await create({ priority: "high" });
    await explained(`jobs/${urgent}`, ["no-worker"]);
  });

  it("is which job of its group goes first", async () => {
    grouped = [await create({ groupKey: "ada" }), await create({ groupKey: "ada" })];
    await explained(`jobs/${grouped[0]}`, ["group-turn", "no-worker"]);
    const { reasons } = await explained(`jobs/${grouped[1]}`, ["group-waits"]);
    expect(reasons[0].changedBy).to.equal(`the end of job ${grouped[0]}`);
  });

  it("is which parts of a mailing are left", async () => {
    const draft = await ask("POST", "/api/mailings", { subject: mailing.subject, body: mailing.body });
    mailingId = draft.mailingId;
    expect(codes(await explain(`mailings/${mailingId}`))).to.deep.equal(["draft"]);
    await ask("PUT", `/api/mailings/${mailingId}/recipients`, '"ada@example.com"\n"bob@example.com"\n');
    await ask("POST", `/api/mailings/${mailingId}/start`);
    await eventually(async () => {
      const { reasons } = await explain(`mailings/${mailingId}`);
      expect(reasons[0].message).to.equal("1 of 1 part not ended: 1 queued.");
      expect(reasons[1].code).to.equal("no-worker");
    }, 20_000);
  });

  it("is over once a worker has come", async () => {
    worker = await startWaybill(stage.surroundings, { ROLES: "worker" });
    for (const id of [first, second, ...grouped]) await explained(`jobs/${id}`, ["completed"]);
    const { status } = await explained(`mailings/${mailingId}`, ["completed"]);
    expect(status).to.equal("completed");
  });

  it("is said without what only a read model knows, where the read model is away", async () => {
    const away = await startWaybill(
      { ...stage.surroundings, mysqlUrl: "mysql://root@127.0.0.1:1/nowhere" },
      { ROLES: "api", AUTO_MIGRATE: "false" },
    );
    try {
      const scheduled = await create({ scheduledAt: "2037-01-01T00:00:00Z" });
      const answer = await (await fetch(`${away.url}/api/jobs/${scheduled}/explain`)).json();
      expect(codes(answer)).to.deep.equal(["scheduled"]);
      const open = await ask("POST", "/api/mailings", { subject: mailing.subject, body: mailing.body });
      await ask("PUT", `/api/mailings/${open.mailingId}/recipients`, '"ada@example.com"\n');
      await ask("POST", `/api/mailings/${open.mailingId}/start`, { scheduledAt: "2037-01-01T00:00:00Z" });
      const ofMailing: Json = await (await fetch(`${away.url}/api/mailings/${open.mailingId}/explain`)).json();
      expect(ofMailing.notKnown).to.deep.equal(["parts"]);
      expect(codes(ofMailing)).to.deep.equal(["scheduled", "parts-open"]);
    } finally {
      await away.stop();
    }
  });

  it("is asked of a job and a mailing that exist", async () => {
    const nobody = "00000000-0000-4000-8000-000000000000";
    for (const what of [`jobs/${nobody}`, `mailings/${nobody}`, `jobs/${mailingId}`, `mailings/${first}`, "jobs/x"]) {
      expect((await fetch(`${waybill.url}/api/${what}/explain`)).status, what).to.equal(404);
    }
  });
});
