import { expect } from "chai";
import type { JobContent } from "../../src/content/content-store.ts";
import { decodeContent, digestOf } from "../../src/content/encode-content.ts";
import type { JobSettings } from "../../src/domain/job/events.ts";
import { earlier, later, now } from "../support/examples.ts";
import { mailing, type RunningApi, startApi } from "../support/running-api.ts";

describe("A mailing that is posted", () => {
  let api: RunningApi;

  beforeEach(async () => {
    api = await startApi({ maxAttempts: 7 });
  });
  afterEach(() => api.close());

  const post = (more: object = {}, path = "/api/jobs") => api.ask("POST", path, { body: { ...mailing, ...more } });

  const postedSettings = async (more: object): Promise<JobSettings> => {
    const { body } = await post(more);
    const [created] = await api.log.readDecisions({ tenant: "default", jobId: body.jobId });
    return created?.event.data as JobSettings;
  };

  const postedContent = async (more: object): Promise<JobContent> => {
    await post(more);
    return decodeContent(api.stored.at(-1) ?? new Uint8Array());
  };

  it("is answered with its id, its status and when it was made", async () => {
    const { status, headers, body } = await post();
    expect(status).to.equal(201);
    expect(body).to.deep.equal({ jobId: body.jobId, status: "pending", createdAt: now, duplicates: 0 });
    expect(body.jobId).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(headers.get("Location")).to.equal(`/api/jobs/${body.jobId}`);
    expect(headers.get("Event-Sequence")).to.equal("1");
  });

  it("is found under the version of the API that it was posted to", async () => {
    const { headers, body } = await post({}, "/api/v1/jobs");
    expect(headers.get("Location")).to.equal(`/api/v1/jobs/${body.jobId}`);
  });

  it("stands in the log with the digest of its content and the defaults of the service", async () => {
    expect(await postedSettings({})).to.deep.equal({
      type: "email.send",
      priority: "normal",
      total: 1,
      duplicates: 0,
      contentSha256: digestOf(api.stored[0] ?? ""),
      requestSha256: null,
      scheduledAt: null,
      notAfter: null,
      maxAttempts: 7,
      retryDelayMs: null,
      deferForMs: 86_400_000,
      onUnknown: "resend",
      requeueOf: null,
      groupSha256: null,
      hasWebhookUrl: false,
    });
  });

  it("has a day's patience with deferred recipients, or what it asks for; none by itself where a group waits for it", async () => {
    expect(await postedSettings({ deferFor: 90 })).to.include({ deferForMs: 90_000 });
    expect(await postedSettings({ groupKey: "shop" })).to.include({ deferForMs: null });
    expect(await postedSettings({ groupKey: "shop", deferFor: 0 })).to.include({ deferForMs: 0 });
    expect(await post({ deferFor: -1 })).to.include({ status: 400 });
  });

  it("names the caller and the request in the log", async () => {
    const { body } = await api.ask("POST", "/api/jobs", { body: mailing, headers: { "X-Request-Id": "order-17" } });
    const [created] = await api.log.readDecisions({ tenant: "default", jobId: body.jobId });
    expect(created).to.include({ actor: "anonymous", correlationId: "order-17", causationId: null });
  });

  it("keeps everything personal out of the log", async () => {
    const { body } = await post({ name: "November", metadata: { customer: "17" } });
    const history = JSON.stringify(await api.log.readHistory({ tenant: "default", jobId: body.jobId }));
    expect(history).not.to.match(/ada@|invoice|Hello|November|customer/);
  });

  it("keeps every setting it came with", async () => {
    const settings = await postedSettings({
      type: "email.send",
      priority: "high",
      scheduledAt: "2026-11-21T10:31:00+01:00",
      notAfter: "2026-11-22T00:00:00Z",
      maxAttempts: 20,
      retryDelay: 0,
      onUnknown: "skip",
    });
    expect(settings).to.include({
      priority: "high",
      scheduledAt: later,
      notAfter: "2026-11-22T00:00:00.000Z",
      maxAttempts: 20,
      retryDelayMs: 0,
      onUnknown: "skip",
    });
  });

  it("may write its priority in upper case", async () => {
    expect(await postedSettings({ priority: "LOW" })).to.include({ priority: "low" });
  });

  it("is scheduled for a time to come", async () => {
    expect((await post({ scheduledAt: later })).body).to.include({ status: "scheduled" });
  });

  it("starts at once when its time has passed", async () => {
    expect((await post({ scheduledAt: earlier })).body).to.include({ status: "pending" });
    expect(await postedSettings({ scheduledAt: earlier })).to.include({ scheduledAt: null });
  });

  it("is stored with what is sent and to whom", async () => {
    const content = await postedContent({
      subject: "  Grüße 👋  ",
      recipients: ["ada@example.com", { email: "bob@example.com" }],
      from: "Billing <billing@example.com>",
      replyTo: "help@example.com",
      headers: { "List-Id": "<news.example.com>" },
      name: " November ",
      metadata: { customer: "17" },
    });
    expect(content).to.deep.equal({
      name: "November",
      metadata: { customer: "17" },
      subject: "Grüße 👋",
      html: null,
      text: "Hello Ada",
      from: "Billing <billing@example.com>",
      replyTo: "help@example.com",
      headers: { "List-Id": "<news.example.com>" },
      recipients: [{ email: "ada@example.com" }, { email: "bob@example.com" }],
    });
  });

  it("may have 1000 recipients", async () => {
    const recipients = Array.from({ length: 1000 }, (_, index) => `ada${index}@example.com`);
    expect(await postedSettings({ recipients })).to.include({ total: 1000 });
  });

  it("goes once to an address that it names more than once, as it was written first", async () => {
    const recipients = ["Ada@example.com", "bob@example.com", { email: "ada@EXAMPLE.com" }, "ada@example.com"];
    expect((await post({ recipients })).body).to.include({ duplicates: 2 });
    expect(decodeContent(api.stored[0] ?? new Uint8Array()).recipients).to.deep.equal([
      { email: "Ada@example.com" },
      { email: "bob@example.com" },
    ]);
    expect(await postedSettings({ recipients })).to.include({ total: 2, duplicates: 2 });
  });

  for (const [body, part] of [
    ["Hello Ada", "text"],
    ["1 < 2 and 3 > 2", "text"],
    ["Write to <ada@example.com> or <https://example.com>", "text"],
    ["a <bonus> and a <promise>", "text"],
    ["<p>Hello Ada</p>", "html"],
    ["Hello<br>Ada", "html"],
    ["Hello <B>Ada</B>", "html"],
    ["<!DOCTYPE html><title>Hello</title>", "html"],
    ['<a\nhref="https://example.com">Ada</a>', "html"],
  ] as const) {
    it(`is ${part === "html" ? "HTML" : "plain text"} with the body ${JSON.stringify(body)}`, async () => {
      expect(await postedContent({ body })).to.include({ html: null, text: null, [part]: body });
    });
  }

  it("needs no body beside html, text or both", async () => {
    const without = { body: undefined };
    expect(await postedContent({ ...without, html: "Hello" })).to.include({ html: "Hello", text: null });
    expect(await postedContent({ ...without, text: "<p>" })).to.include({ html: null, text: "<p>" });
    expect(await postedContent({ ...without, html: "<b>", text: "Hi" })).to.include({ html: "<b>", text: "Hi" });
  });

  it("names its recipients, in a text or in a field, and says neither to the log", async () => {
    const recipients = [
      "Ada Lovelace <ada@example.com>",
      '"Babbage, Charles" <charles@example.com>',
      { email: "bob@example.com", name: "Bob" },
      "Ada again <ADA@example.com>",
    ];
    const { recipients: stored } = await postedContent({ recipients });
    expect(stored).to.deep.equal([
      { email: "ada@example.com", name: "Ada Lovelace" },
      { email: "charles@example.com", name: "Babbage, Charles" },
      { email: "bob@example.com", name: "Bob" },
    ]);
    const { body } = await post({ recipients });
    const events = await api.log.readDecisions({ tenant: "default", jobId: body.jobId });
    expect(JSON.stringify(events)).not.to.match(/Ada|Lovelace|Babbage|Bob/);
  });

  it("shows in a dry run whom the first mail names", async () => {
    const dry = { dryRun: true, subject: "Hello {{ name }}", body: "Dear {{ name }}" };
    const { body } = await post({ ...dry, recipients: ['"Lovelace, Ada" <ada@example.com>'] });
    expect(body.mail).to.include({ to: '"Lovelace, Ada" <ada@example.com>', subject: "Hello Lovelace, Ada" });
    expect(body.mail.raw).to.include('\r\nTo: "Lovelace, Ada" <ada@example.com>\r\n');
    const variables = { name: "Countess" };
    const own = await post({ ...dry, recipients: [{ email: "ada@example.com", name: "Ada", variables }] });
    expect(own.body.mail).to.include({ to: "Ada <ada@example.com>", subject: "Hello Countess" });
  });

  it("has its HTML in body when text is given beside it", async () => {
    expect(await postedContent({ body: "Hello", text: "Hi" })).to.include({ html: "Hello", text: "Hi" });
  });

  it("has its plain text in body when html is given beside it", async () => {
    expect(await postedContent({ body: "<b>", html: "<p>Hi" })).to.include({ html: "<p>Hi", text: "<b>" });
  });
});
