import { expect } from "chai";
import { decodeContent } from "../../src/content/encode-content.ts";
import { readNetworks } from "../../src/signed-post/addresses.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

const url = "https://hooks.example.com/a";
const job = { type: "webhook.deliver", payload: { event: "order.paid", data: { order: 17 } }, recipients: [url] };

describe("A job that calls webhooks", () => {
  let api: RunningApi;

  beforeEach(async () => {
    api = await startApi();
  });
  afterEach(() => api.close());

  const post = (body: object, headers: Record<string, string> = {}) => api.ask("POST", "/api/jobs", { body, headers });
  const faultsOf = (body: { errors: readonly { pointer: string; message: string }[] }) =>
    Object.fromEntries(body.errors.map(({ pointer, message }) => [pointer, message]));

  it("is taken with its URLs, each once, and has no subject", async () => {
    const recipients = [
      url,
      { url: "https://HOOKS.example.com:443/a" },
      { url: `${url}?b=1`, variables: { vip: true } },
    ];
    const { status, body } = await post({ ...job, recipients, metadata: { shop: "7" } });
    expect(status).to.equal(201);
    expect(body.duplicates).to.equal(1);
    const { body: shown } = await api.ask("GET", `/api/jobs/${body.jobId}`);
    expect(shown).to.deep.include({ type: "webhook.deliver", subject: null, metadata: { shop: "7" } });
    expect(shown.progress).to.include({ total: 2, pending: 2 });
    expect(decodeContent(api.stored[0] as Uint8Array)).to.deep.include({
      payload: job.payload,
      recipients: [{ email: url }, { email: `${url}?b=1`, variables: { vip: true } }],
    });
    const history = JSON.stringify((await api.ask("GET", `/api/jobs/${body.jobId}/events`)).body);
    expect(history).to.not.include("hooks.example.com").and.not.include("order.paid");
    expect(api.logged.join("\n")).to.not.include("hooks.example.com");
  });

  it("is the same job when it is asked for again with its key", async () => {
    const key = { "Idempotency-Key": "once" };
    const [first, second] = [await post(job, key), await post(job, key)];
    expect([first.status, second.status, second.body.jobId]).to.deep.equal([201, 201, first.body.jobId]);
    const other = { ...job, payload: { ...job.payload, data: { order: 18 } } };
    expect((await post(other, key)).status).to.equal(422);
  });

  it("takes nothing that is a mailing's, and says so of each field", async () => {
    const { status, body } = await post({ ...job, subject: "Hi", body: "text", dryRun: true, replyTo: "a@b.c", x: 1 });
    expect(status).to.equal(400);
    const sentence = (field: string): string => `${field} does not belong to a job of type webhook.deliver`;
    expect(faultsOf(body)).to.deep.equal({
      "/subject": sentence("subject"),
      "/body": sentence("body"),
      "/dryRun": sentence("dryRun"),
      "/replyTo": sentence("replyTo"),
      "/x": "x is not a known field",
    });
  });

  it("is refused with every fault of its URLs and its payload, none of which repeats what may be a password", async () => {
    const recipients = [
      "https://user:hunter2@hooks.example.com/",
      "http://hooks.example.com/",
      { url: "https://169.254.169.254/latest" },
      { url, variables: { deep: { a: { b: { c: { d: { e: { f: { g: { h: 1 } } } } } } } } } },
      7,
      { email: "ada@example.com" },
    ];
    const { status, body } = await post({ ...job, payload: { event: "order paid", extra: 1 }, recipients });
    expect(status).to.equal(400);
    expect(Object.keys(faultsOf(body))).to.have.members([
      "/payload/data",
      "/payload/event",
      "/payload/extra",
      "/recipients/3/variables",
      "/recipients/4",
      "/recipients/5/email",
      "/recipients/5/url",
    ]);
    const refused = await post({ ...job, recipients: recipients.slice(0, 3) });
    expect(Object.keys(faultsOf(refused.body))).to.deep.equal(["/recipients/0", "/recipients/1", "/recipients/2/url"]);
    expect(JSON.stringify(refused.body)).to.not.include("hunter2");
    expect((await post({ type: job.type, recipients: [url] })).body.errors[0].message).to.match(/^payload is missing/);
    expect((await post({ ...job, recipients: Array(1001).fill(url) })).status).to.equal(413);
    expect(api.stored).to.have.lengthOf(0);
  });

  it("holds no number that was rounded", async () => {
    const { status, body } = await post({ ...job, payload: { event: "order.paid", data: { order: [2 ** 53] } } });
    expect(status).to.equal(400);
    expect(Object.keys(faultsOf(body))).to.deep.equal(["/payload/data"]);
  });

  it("may go where the service allows it, and only there", async () => {
    const allowed = readNetworks("127.0.0.0/8").filter((network) => network !== null);
    const webhooks = {
      store: {},
      deliveries: {},
      post: async () => expect.fail("No receiver may be called."),
      allowed,
    };
    // No request gets as far as the store, so it has no methods.
    const local = await startApi({ webhooks: webhooks as never });
    const ask = (recipients: readonly string[]) => local.ask("POST", "/api/jobs", { body: { ...job, recipients } });
    expect((await ask(["http://127.0.0.1:8000/a"])).status).to.equal(201);
    expect((await ask(["http://10.0.0.1/a"])).status).to.equal(400);
    await local.close();
  });

  it("can be cancelled, paused and put to another time like a mailing", async () => {
    const { body } = await post({ ...job, scheduledAt: "2100-01-01T00:00:00Z" });
    const self = `/api/jobs/${body.jobId}`;
    const moved = await api.ask("PATCH", self, { body: { priority: "high" } });
    expect(moved.body).to.include({ status: "scheduled", priority: "high", type: "webhook.deliver" });
    expect((await api.ask("POST", `${self}/pause`)).body.status).to.equal("paused");
    expect((await api.ask("DELETE", self)).body.status).to.equal("cancelled");
  });
});
