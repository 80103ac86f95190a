import { expect } from "chai";
import type { PostOutcome, PostRequest } from "../../src/signed-post/safe-post.ts";
import { caused, jobCompleted, jobCreated, webhookFailed } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { createMemoryWebhookStore } from "../support/memory/memory-webhook-store.ts";
import { isSignedBy } from "../support/receiver.ts";
import { type Answered, mailing, type RunningApi, startApi } from "../support/running-api.ts";

const path = "/api/webhook-endpoints";
const url = "https://hooks.example.com/in?token=abc";

describe("The webhook endpoints of a tenant", () => {
  let api: RunningApi;
  let posted: PostRequest[];
  let outcome: PostOutcome;
  let answering: Promise<void>;
  const store = createMemoryWebhookStore();

  beforeEach(async () => {
    posted = [];
    outcome = { kind: "answered", statusCode: 204, retryAfterMs: null };
    answering = Promise.resolve();
    await store.change("default", (before) => ({ ...before, endpoints: [] }));
    const post = async (request: PostRequest): Promise<PostOutcome> => {
      posted.push(request);
      await answering;
      return outcome;
    };
    const delivery = { deliveryId: "delivery-1", jobId: job.jobId, endpoint: "endpoint-1" };
    const find = async (_tenant: string, _endpoint: string, id: string) =>
      id === "delivery-1" ? ({ ...webhookFailed().data, ...delivery, ...projected } as const) : null;
    const list = async () => ({ readSequence: 7, deliveries: [], nextCursor: null });
    api = await startApi({ webhooks: { store, post, allowed: [], deliveries: { list, find } } });
  });
  afterEach(() => api.close());

  const job = newJob();
  const projected = { status: "failed", createdAt: "", lastAttemptAt: null, error: null, nextAttemptAt: null } as const;
  const create = (body: unknown = { url }): Promise<Answered> => api.ask("POST", path, { body });

  it("are made with a secret that is shown this once", async () => {
    const { status, body } = await create({ url, types: ["job.failed", "job.failed"] });
    expect(status).to.equal(201);
    expect(body).to.include({ url, previousValidUntil: null });
    expect(body.types).to.deep.equal(["job.failed"]);
    expect(body.secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const list = await api.ask("GET", path);
    const { id, createdAt } = body;
    expect(list.body).to.deep.equal({ data: [{ id, url, types: ["job.failed"], createdAt }], nextCursor: null });
  });

  it("hear of everything unless they say of what", async () => {
    const everything = ["job.completed", "job.failed", "job.cancelled", "mailing.completed", "mailing.cancelled"];
    expect((await create()).body.types).to.deep.equal(everything);
  });

  for (const [body, message] of [
    [undefined, /url is missing; expected a URL with https/],
    [{ url: "http://hooks.example.com" }, /url cannot be called; expected a URL with https/],
    [{ url: "https://user:hunter2@hooks.example.com" }, /url cannot be called; expected a URL without a user/],
    [{ url: "https://169.254.169.254/latest/meta-data" }, /expected a URL of a host on the public internet/],
    [{ url: "nonsense" }, /url is "nonsense"; expected a URL of at most 2048 characters/],
    [{ url: 7 }, /url is 7; expected a URL with https/],
    [{ url, types: [] }, /types is an empty array; expected an array, each of it one of job\.completed/],
    [{ url, types: ["job.blessed"] }, /types\[0\] is "job\.blessed"; expected one of job\.completed/],
    [{ url, secret: "mine" }, /secret is not a known field/],
  ] as const) {
    it(`are not made of ${JSON.stringify(body)}`, async () => {
      const { status, body: problem } = await api.ask("POST", path, body === undefined ? {} : { body });
      expect({ status, code: problem.code }).to.deep.equal({ status: 400, code: "validation-failed" });
      expect(problem.detail).to.match(message);
      expect(JSON.stringify(problem)).not.to.include("hunter2");
    });
  }

  it("are 20 at most", async () => {
    for (let count = 1; count <= 20; count += 1) expect((await create()).status).to.equal(201);
    const { status, body } = await create();
    expect({ status, code: body.code }).to.deep.equal({ status: 409, code: "too-many-webhook-endpoints" });
  });

  it("get another secret, while the one before goes on signing for a day", async () => {
    const made = (await create()).body;
    const { status, body } = await api.ask("POST", `${path}/${made.id}/rotate`);
    expect(status).to.equal(200);
    expect(body).to.include({ id: made.id, previousValidUntil: "2026-11-22T09:30:00.000Z" });
    expect(body.secret)
      .to.match(/^whsec_/)
      .and.not.equal(made.secret);
  });

  it("are tested by a signed message, and what came of it is told", async () => {
    const made = (await create()).body;
    const { status, body } = await api.ask("POST", `${path}/${made.id}/test`);
    expect(status).to.equal(200);
    expect(body).to.deep.include({ delivered: true, statusCode: 204, error: null });
    const [request] = posted;
    const text = new TextDecoder().decode(request?.body);
    expect(JSON.parse(text)).to.deep.include({ type: "webhook.test", data: { endpointId: made.id } });
    expect(request?.headers["webhook-id"]).to.equal(body.webhookId);
    expect(isSignedBy(made.secret, { path: "", headers: { ...request?.headers }, text })).to.equal(true);
    outcome = { kind: "unanswered", error: { code: "timed-out", message: "It took too long." } };
    expect((await api.ask("POST", `${path}/${made.id}/test`)).body).to.deep.include({
      delivered: false,
      statusCode: null,
      error: { code: "timed-out", message: "It took too long." },
    });
  });

  it("are tested four at a time, while their receivers are silent", async () => {
    const { id } = (await create()).body;
    let answer = (): void => {};
    answering = new Promise((resolve) => {
      answer = resolve;
    });
    const tests = Array.from({ length: 5 }, () => api.ask("POST", `${path}/${id}/test`));
    const refused = await Promise.race(tests);
    expect(refused).to.deep.nested.include({ status: 429, "body.code": "rate-limited" });
    expect(refused.headers.get("Retry-After")).to.equal("5");
    answer();
    const statuses = (await Promise.all(tests)).map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([200, 200, 200, 200, 429]);
    expect((await api.ask("POST", `${path}/${id}/test`)).status).to.equal(200);
  });

  it("are gone once they were deleted", async () => {
    const { id } = (await create()).body;
    expect((await api.ask("DELETE", `${path}/${id}`)).status).to.equal(200);
    expect((await api.ask("GET", path)).body.data).to.deep.equal([]);
    expect((await api.ask("DELETE", `${path}/${id}`)).status).to.equal(404);
  });

  for (const [method, rest] of [
    ["DELETE", ""],
    ["POST", "/rotate"],
    ["POST", "/test"],
    ["GET", "/deliveries"],
    ["POST", "/deliveries/delivery-1/redeliver"],
  ] as const) {
    it(`are not found as ${method} :id${rest} where there is none`, async () => {
      const { status, body } = await api.ask(method, `${path}/nothing${rest}`);
      expect({ status, code: body.code }).to.deep.equal({ status: 404, code: "webhook-endpoint-not-found" });
      expect(posted).to.deep.equal([]);
    });
  }

  it("list what was sent to them", async () => {
    const { id } = (await create()).body;
    const { status, headers, body } = await api.ask("GET", `${path}/${id}/deliveries?limit=5`);
    expect({ status, body }).to.deep.equal({ status: 200, body: { data: [], nextCursor: null } });
    expect(headers.get("Read-Sequence")).to.equal("7");
    expect((await api.ask("GET", `${path}/${id}/deliveries?limit=0`)).status).to.equal(400);
  });

  it("are sent something again when it is asked for, once however often", async () => {
    const { id } = (await create()).body;
    await api.log.append(job, [caused("created", jobCreated())], 0);
    await api.log.append(job, [caused("ended", jobCompleted())], 1);
    await api.log.record(job, [caused("failed", webhookFailed({ nextAttemptAt: null }))]);
    const again = () => api.ask("POST", `${path}/${id}/deliveries/delivery-1/redeliver`);
    const { status, headers, body } = await again();
    expect(status).to.equal(202);
    expect(body).to.include({ id: "delivery-1", jobId: job.jobId, status: "waiting", round: 2, attempt: 0 });
    expect(headers.get("Event-Sequence")).to.equal("4");
    expect((await again()).status).to.equal(202);
    const notices = await api.log.readNotices(job);
    expect(notices.map(({ event }) => event.type)).to.deep.equal(["WebhookFailed", "WebhookRedeliveryRequested"]);
    const unknown = await api.ask("POST", `${path}/${id}/deliveries/delivery-2/redeliver`);
    expect(unknown.body.code).to.equal("webhook-delivery-not-found");
  });
});

describe("The webhookUrl of a job", () => {
  let api: RunningApi;

  before(async () => {
    api = await startApi();
  });
  after(() => api.close());

  it("is kept with what may be erased, and not in the log", async () => {
    const { status, body } = await api.ask("POST", "/api/jobs", { body: { ...mailing, webhookUrl: url } });
    expect(status).to.equal(201);
    expect(new TextDecoder().decode(api.stored.at(-1))).to.include(url);
    const history = await api.ask("GET", `/api/jobs/${body.jobId}/events`);
    expect(JSON.stringify(history.body)).not.to.include("hooks.example.com");
  });

  for (const webhookUrl of [
    "http://hooks.example.com",
    "https://10.0.0.1/",
    "https://a:b@example.com/",
    "nonsense",
    7,
  ]) {
    it(`is not ${webhookUrl}`, async () => {
      const { status, body } = await api.ask("POST", "/api/jobs", { body: { ...mailing, webhookUrl } });
      expect({ status, pointer: body.errors?.[0]?.pointer }).to.deep.equal({ status: 400, pointer: "/webhookUrl" });
    });
  }
});
