import { expect } from "chai";
import { newSecret } from "../../src/signed-post/secret.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { isSignedBy, type Receiver, startReceiver, withStatus } from "../support/receiver.ts";
import { mailing } from "../support/running-api.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { type Surroundings, spawnWaybill, startWaybill, type Waybill } from "../support/waybill.ts";

const secret = newSecret().text;
const settings = { WEBHOOK_ALLOW: "127.0.0.0/8", WEBHOOK_SECRET: secret, RETRY_BASE_DELAY: "100" };

// biome-ignore lint/suspicious/noExplicitAny: the tests look into answers whose shape is what they test.
type Json = any;

describe("A job that calls webhooks, in a service whose mail server is away", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let database: TestDatabase;
  let receiver: Receiver;
  let surroundings: Surroundings;
  let waybill: Waybill;
  let client: ApiClient;

  before(async () => {
    [nats, database] = await Promise.all([startNats(), freshDatabase()]);
    // No server listens there.
    surroundings = { nats, mysqlUrl: database.url, smtpUrl: "smtp://127.0.0.1:1" };
    waybill = await startWaybill(surroundings, { ...settings, ROLES: "api,scheduler,projector" });
    client = createApiClient(waybill.url);
  });
  after(async () => {
    await waybill.stop();
    await database.drop();
    await nats.cleanUp();
  });
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.stop());

  const ask = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { "Content-Type": "application/json" };
    return await (await fetch(waybill.url + path, { method, headers, ...sent })).json();
  };
  const jobTo = (paths: readonly string[], more: object = {}) => ({
    type: "webhook.deliver",
    payload: { event: "order.paid", data: { order: 17 } },
    recipients: paths.map((path) => receiver.url + path),
    ...more,
  });
  const startWorker = () => spawnWaybill(surroundings, "worker", settings);

  it("calls each under the same id after its worker was killed, or leaves them as unknown", async () => {
    receiver.answers(() => {});
    const killed = await startWorker();
    const again = await client.create(jobTo(["/again"]));
    const skipped = await client.create(jobTo(["/skipped"], { onUnknown: "skip" }));
    await eventually(() => expect(receiver.received).to.have.lengthOf(2), 20_000);
    await killed.kill();
    receiver.answers(withStatus(204));
    const worker = await startWorker();
    const job = await client.ended(again, 40_000);
    expect(job).to.include({ status: "completed", attempt: 1 });
    const [first, second] = receiver.received.filter(({ path }) => path === "/again");
    expect(second?.headers["webhook-id"]).to.be.a("string").and.to.equal(first?.headers["webhook-id"]);
    expect(second?.text).to.equal(first?.text);
    expect((await client.ended(skipped, 40_000)).progress).to.include({ sent: 0, unknown: 1 });
    expect(receiver.received.filter(({ path }) => path === "/skipped")).to.have.lengthOf(1);
    await worker.terminate();
  });

  it("is logged, retried and taken up again like a mailing, while mailings wait", async () => {
    const worker = await startWorker();
    const mailings = await Promise.all(Array.from({ length: 8 }, () => client.create(mailing)));
    receiver.answers((response, { path }) => void response.writeHead(path === "/good" ? 200 : 503).end());
    const jobId = await client.create(jobTo(["/good", "/bad", "/worse"], { maxAttempts: 2, name: "Paid" }));
    const failed = await client.ended(jobId, 30_000);
    expect(failed).to.deep.include({
      type: "webhook.deliver",
      status: "failed",
      subject: null,
      name: "Paid",
      attempt: 2,
    });
    expect(failed.error?.code).to.equal("too-many-failures");
    const [good] = receiver.received.filter(({ path }) => path === "/good");
    expect(good !== undefined && isSignedBy(secret, good)).to.equal(true);

    const lines = await eventually(async () => {
      const found = await ask("GET", `/api/jobs/${jobId}/logs`);
      expect(found).to.have.lengthOf(5);
      return found;
    });
    const shown = lines.map(({ email, status, attempt }: Json) => [email.replace(receiver.url, ""), status, attempt]);
    expect(shown).to.have.deep.members([
      ["/good", "success", 1],
      ["/bad", "deferred", 1],
      ["/bad", "failed", 2],
      ["/worse", "deferred", 1],
      ["/worse", "failed", 2],
    ]);
    expect(lines.find(({ status }: Json) => status === "success")).to.include({
      messageId: good?.headers["webhook-id"],
      response: "HTTP 200",
    });

    receiver.answers(withStatus(200));
    const [letter] = await eventually(async () => {
      const { data } = await ask("GET", "/api/dead-letters");
      expect(data).to.have.lengthOf(1);
      return data;
    });
    const requeued = await ask("POST", `/api/dead-letters/${letter.id}/requeue`);
    const ended = await client.ended(requeued.jobId, 30_000);
    expect(ended).to.deep.include({ type: "webhook.deliver", status: "completed", requeueOf: jobId });
    expect(ended.progress).to.include({ total: 2, sent: 2 });

    const list = await ask("GET", "/api/jobs?type=webhook.deliver&status=failed");
    expect(list.data.map(({ id }: Json) => id)).to.deep.equal([jobId]);
    for (const id of mailings) {
      const job = await ask("GET", `/api/jobs/${id}`);
      expect(job).to.include({ completedAt: null });
    }
    expect(await worker.terminate()).to.equal(0);
    expect(worker.output()).to.not.include(receiver.url);
  });
});
