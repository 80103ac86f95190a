import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { isSignedBy, type Received, type Receiver, startReceiver, withStatus } from "../support/receiver.ts";
import { mailing } from "../support/running-api.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { type Surroundings, settingsFor, spawnWaybill, startWaybill, type Waybill } from "../support/waybill.ts";

const main = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const run = promisify(execFile);
const allowed = { WEBHOOK_ALLOW: "127.0.0.0/8" };

// biome-ignore lint/suspicious/noExplicitAny: the tests look into answers whose shape is what they test.
type Json = any;

describe("A receiver that waits for a mailing to end", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let receiver: Receiver;
  let surroundings: Surroundings;
  let waybill: Waybill;

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    surroundings = { nats, mysqlUrl: database.url, smtpUrl: mailServer.url };
    waybill = await startWaybill(surroundings, { ...allowed, ROLES: "api,scheduler,worker,projector" });
  });
  after(async () => {
    await waybill.stop();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.stop());

  async function ask(method: string, path: string, body?: unknown) {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(waybill.url + path, {
      method,
      headers: { "Content-Type": "application/json" },
      ...sent,
    });
    return { status: response.status, body: (await response.json()) as Json };
  }
  const startRole = () => spawnWaybill(surroundings, "webhooks", allowed);
  const deliveriesOf = async (id: string): Promise<readonly Json[]> =>
    (await ask("GET", `/api/webhook-endpoints/${id}/deliveries`)).body["data"];

  it("is told at the job's webhookUrl, signed by the secret that the command line shows", async () => {
    const role = await startRole();
    const { body } = await ask("POST", "/api/jobs", { ...mailing, webhookUrl: `${receiver.url}/job` });
    await eventually(() => expect(receiver.received).to.have.lengthOf(1), 20_000);
    await role.terminate();
    const env = { PATH: process.env["PATH"], ...settingsFor(surroundings) };
    const { stdout } = await run(process.execPath, [main, "webhooks", "secret"], { env });
    const [message] = receiver.received as [Received];
    expect(isSignedBy(stdout.trim(), message)).to.equal(true);
    const { data, ...rest } = JSON.parse(message.text);
    expect(rest).to.include({ type: "job.completed" });
    expect(data).to.deep.equal((await ask("GET", `/api/jobs/${body["jobId"]}`)).body);

    const rotated = await run(process.execPath, [main, "webhooks", "secret", "--rotate", "--json"], { env });
    expect(JSON.parse(rotated.stdout).secret)
      .to.match(/^whsec_/)
      .and.not.equal(stdout.trim());
    const fixed = { ...env, WEBHOOK_SECRET: stdout.trim() };
    const refused = await run(process.execPath, [main, "webhooks", "secret", "--rotate"], { env: fixed }).catch(
      (failure: { code: number; stderr: string }) => failure,
    );
    expect(refused).to.include({ code: 1 });
    expect(refused.stderr).to.include("WEBHOOK_SECRET").and.not.include(stdout.trim());
  });

  it("is told again with the same id after the process was killed before it recorded that it had told", async () => {
    const endpoint = (await ask("POST", "/api/webhook-endpoints", { url: receiver.url })).body;
    receiver.answers(() => {});
    const killed = await startRole();
    const { body } = await ask("POST", "/api/jobs", mailing);
    await eventually(() => expect(receiver.received).to.have.lengthOf(1), 20_000);
    await killed.kill();
    receiver.answers(withStatus(204));
    const role = await startRole();
    // NATS redelivers the decision to another process after ten seconds.
    await eventually(() => expect(receiver.received).to.have.lengthOf(2), 30_000);
    const [first, second] = receiver.received;
    expect(second?.headers["webhook-id"]).to.equal(first?.headers["webhook-id"]);
    expect(second?.text).to.equal(first?.text);
    const [delivery] = await eventually(async () => {
      const deliveries = await deliveriesOf(endpoint["id"]);
      expect(deliveries).to.have.lengthOf(1);
      return deliveries;
    });
    expect(delivery).to.include({
      id: first?.headers["webhook-id"],
      jobId: body["jobId"],
      status: "delivered",
      attempt: 1,
    });

    const path = `/api/webhook-endpoints/${endpoint["id"]}`;
    expect((await ask("POST", `${path}/deliveries/${delivery?.["id"]}/redeliver`)).status).to.equal(202);
    await eventually(() => expect(receiver.received).to.have.lengthOf(3));
    expect(receiver.received[2]?.headers["webhook-id"]).to.equal(first?.headers["webhook-id"]);
    await eventually(async () => expect((await deliveriesOf(endpoint["id"]))[0]).to.include({ round: 2 }));
    expect((await ask("POST", `${path}/test`)).body).to.deep.include({ delivered: true, statusCode: 204 });
    expect((await ask("DELETE", path)).status).to.equal(200);
    await role.terminate();
  });

  it("is not called at an address of ours, unless that is allowed", async () => {
    const { status, body } = await ask("POST", "/api/jobs", { ...mailing, webhookUrl: "http://10.0.0.1/" });
    expect(status).to.equal(400);
    expect(body["detail"]).to.equal(
      "webhookUrl cannot be called; expected a URL of a host on the public internet, or of a network that the setting WEBHOOK_ALLOW names.",
    );
  });
});
