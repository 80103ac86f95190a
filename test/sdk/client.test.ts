import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import {
  cursorOf,
  NoAnswer,
  RequestRefused,
  verifyWebhook,
  WaitedTooLong,
  Waybill,
  WaybillError,
  WebhookRefused,
} from "../../src/sdk/client.ts";
import { signatureHeaders } from "../../src/signed-post/secret.ts";
import { jobStarted } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { happen } from "../support/happen.ts";
import { mailing, type RunningApi, startApi } from "../support/running-api.ts";

/** Answers as given, in order, before anything reaches the service; null is an answer that the service gave and that was lost. */
function flaky(...instead: readonly (Response | null)[]): { fetch: typeof fetch; asked: Request[] } {
  const left = [...instead];
  const asked: Request[] = [];
  const send: typeof fetch = async (url, init) => {
    asked.push(new Request(url, init));
    if (left.length === 0) return await fetch(url, init);
    const answer = left.shift();
    if (answer) return answer;
    await (await fetch(url, init)).text();
    throw new TypeError("The connection was lost.");
  };
  return { fetch: send, asked };
}

const away = (headers: Readonly<Record<string, string>> = {}) => new Response("", { status: 503, headers });

describe("The client for applications", () => {
  let api: RunningApi;

  before(async () => {
    api = await startApi();
  });
  after(() => api.close());

  const jobsStored = async (): Promise<number> => {
    const waybill = new Waybill({ url: api.url });
    const { data } = await waybill.request("get", "/api/events", { query: { types: ["JobCreated"], limit: 1000 } });
    return data.length;
  };

  it("says at once where its address is none", () => {
    const cases = [
      ["undefined", undefined],
      ['"127.0.0.1:3000"', "127.0.0.1:3000"],
      ['"localhost:3000"', "localhost:3000"],
    ] as const;
    for (const [shown, url] of cases) {
      const expected = `url is ${shown}; expected the address of the service, such as http://127.0.0.1:3000`;
      // @ts-expect-error A program in JavaScript reads the address from an environment that may lack it.
      expect(() => new Waybill({ url })).to.throw(TypeError, expected);
    }
  });

  it("says at once where its key is none, and does not show it", () => {
    const expected = "key is no API key; expected a text of visible ASCII characters, such as wb_3f9a";
    for (const key of ["wb_…", "wb_1\n2", "wb 1"]) {
      expect(() => new Waybill({ url: api.url, key })).to.throw(TypeError, expected);
    }
  });

  it("creates one job where the answer is lost", async () => {
    const before = await jobsStored();
    const { fetch, asked } = flaky(null, away());
    const { jobId } = await new Waybill({ url: api.url, fetch }).jobs.create(mailing);
    expect(await jobsStored()).to.equal(before + 1);
    expect(new Set(asked.map(({ headers }) => headers.get("Idempotency-Key"))).size).to.equal(1);
    expect(asked).to.have.length(3);
    expect((await new Waybill({ url: api.url }).jobs.get(jobId)).id).to.equal(jobId);
  });

  it("waits as long as the service asks for, and not where that is very long", async () => {
    const begunAt = performance.now();
    const { fetch } = flaky(away({ "Retry-After": "1" }));
    await new Waybill({ url: api.url, fetch }).jobs.create(mailing);
    expect(performance.now() - begunAt).to.be.above(1000);
    const limited = flaky(new Response("", { status: 429, headers: { "Retry-After": "3600" } }));
    const failure = await failureOf(new Waybill({ url: api.url, fetch: limited.fetch }).jobs.create(mailing));
    expect(failure).to.be.instanceOf(RequestRefused).and.include({ status: 429, retryAfterMs: 3_600_000 });
  });

  it("gives up after as many retries as it may make", async () => {
    const { fetch, asked } = flaky(away(), away(), away());
    const failure = await failureOf(new Waybill({ url: api.url, fetch, maxRetries: 2 }).jobs.create(mailing));
    expect(failure).to.be.instanceOf(RequestRefused).and.include({ status: 503, code: null });
    expect(asked).to.have.length(3);
  });

  it("repeats after each answer that passes, and after no other", async () => {
    for (const status of [408, 429, 500, 502, 503, 504]) {
      const { fetch, asked } = flaky(new Response("", { status }));
      await new Waybill({ url: api.url, fetch }).jobs.create(mailing);
      expect(asked, String(status)).to.have.length(2);
    }
    for (const status of [400, 401, 403, 404, 409, 413, 422, 501]) {
      const { fetch, asked } = flaky(new Response("", { status }));
      const failure = await failureOf(new Waybill({ url: api.url, fetch }).jobs.create(mailing));
      expect(failure).to.be.instanceOf(WaybillError).and.include({ status });
      expect(asked, String(status)).to.have.length(1);
    }
  });

  it("ends at its deadline, with what it was told last", async () => {
    const { fetch, asked } = flaky(...Array.from({ length: 20 }, () => away({ "Retry-After": "1" })));
    const failure = await failureOf(new Waybill({ url: api.url, fetch, deadlineMs: 1500 }).jobs.create(mailing));
    expect(failure).to.include({ status: 503 });
    expect(asked.length).to.be.within(1, 2);
  });

  it("takes no longer for one answer than it may", async () => {
    const never: typeof fetch = (_, init) =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
    const waybill = new Waybill({ url: api.url, fetch: never, timeoutMs: 50, maxRetries: 1 });
    expect(await failureOf(waybill.jobs.create(mailing)))
      .to.be.instanceOf(NoAnswer)
      .and.include({ code: "no-answer" });
    const aborted = AbortSignal.abort(new Error("The user has left."));
    expect((await failureOf(waybill.jobs.create(mailing, { signal: aborted }))).message).to.equal("The user has left.");
  });

  it("waits through an outage, and no longer than it is asked to", async () => {
    const { jobId } = await new Waybill({ url: api.url }).jobs.create(mailing);
    const job = await new Waybill({ url: api.url }).jobs.get(jobId);
    const ended = Response.json({ ...job, completedAt: "2026-11-21T09:30:00.000Z" });
    const { fetch, asked } = flaky(Response.json(job), away(), away(), ended);
    const waited = await new Waybill({ url: api.url, fetch, maxRetries: 1 }).jobs.wait(jobId);
    expect(waited.completedAt).to.equal("2026-11-21T09:30:00.000Z");
    expect(asked).to.have.length(4);
    const impatient = new Waybill({ url: api.url }).jobs.wait(jobId, { timeoutMs: 100 });
    expect(await failureOf(impatient))
      .to.be.instanceOf(WaitedTooLong)
      .and.include({ code: "waited-too-long" });
    const nowhere = new Waybill({ url: "http://127.0.0.1:1", maxRetries: 0 }).jobs.wait(jobId);
    expect(await failureOf(nowhere)).to.be.instanceOf(NoAnswer);
  });

  it("throws what its source of recipients throws, and does not take that for a lost answer", async () => {
    const { recipients: _, ...letter } = mailing;
    const { mailingId } = await new Waybill({ url: api.url }).mailings.create(letter);
    const { fetch, asked } = flaky();
    async function* people() {
      yield "ada@example.com";
      throw new Error("The database is away.");
    }
    const failure = await failureOf(new Waybill({ url: api.url, fetch }).mailings.addRecipients(mailingId, people));
    expect(failure.message).to.equal("The database is away.");
    expect(asked).to.have.length(1);
    const text = new Waybill({ url: api.url }).mailings.addRecipients(mailingId, "ada@example.com" as never);
    expect(await failureOf(text)).to.be.instanceOf(TypeError);
  });

  it("sends recipients once that can be read only once, also where it is told to come back", async () => {
    const { recipients: _, ...letter } = mailing;
    const { mailingId } = await new Waybill({ url: api.url }).mailings.create(letter);
    async function* people() {
      yield "ada@example.com";
    }
    for (const limited of [new Response("", { status: 429 }), away(), null]) {
      const { fetch, asked } = flaky(limited);
      const failure = await failureOf(new Waybill({ url: api.url, fetch }).mailings.addRecipients(mailingId, people()));
      expect(failure).to.be.instanceOf(WaybillError);
      expect(asked).to.have.length(1);
    }
  });

  it("reads evidence again that was cut off", async () => {
    const cut = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode("{"));
        controller.error(new TypeError("terminated"));
      },
    });
    const { fetch } = flaky(new Response(cut), new Response("the whole bundle"));
    expect(await new Waybill({ url: api.url, fetch }).jobs.evidence("job")).to.equal("the whole bundle");
  });

  it("takes a decision whose answer was lost for done, and no other that is refused", async () => {
    const waybill = new Waybill({ url: api.url });
    const { jobId } = await waybill.jobs.create({ ...mailing, scheduledAt: "2037-01-01T00:00:00.000Z" });
    const lossy = () => new Waybill({ url: api.url, fetch: flaky(null).fetch }).jobs;
    expect((await lossy().pause(jobId)).status).to.equal("paused");
    expect((await lossy().resume(jobId, { reason: "it is right" })).status).to.equal("scheduled");
    expect(await failureOf(waybill.jobs.resume(jobId))).to.include({ code: "job-not-paused" });
    expect((await lossy().cancel(jobId)).status).to.equal("cancelled");
    expect(await failureOf(waybill.jobs.cancel(jobId))).to.include({ code: "job-has-ended", isAfterLostAnswer: false });
    expect(await failureOf(lossy().pause(jobId))).to.include({ code: "job-has-ended", isAfterLostAnswer: true });
    await waybill.suppressions.add({ email: "ada@example.com" });
    await new Waybill({ url: api.url, fetch: flaky(null).fetch }).suppressions.remove("ada@example.com");
    const { id } = await waybill.webhookEndpoints.create({ url: "https://example.com/hook" });
    await new Waybill({ url: api.url, fetch: flaky(null).fetch }).webhookEndpoints.delete(id);
    expect(await failureOf(waybill.webhookEndpoints.delete(id))).to.include({ code: "webhook-endpoint-not-found" });
  });

  it("takes a schedule for resumed whose resumption was not answered", async () => {
    const refused = () => Response.json({ code: "schedule-not-paused", detail: "It is active." }, { status: 409 });
    const { fetch, asked } = flaky(away(), refused(), Response.json({ status: "active" }));
    const { schedules } = new Waybill({ url: api.url, fetch });
    expect(await schedules.resume("schedule")).to.deep.equal({ status: "active" });
    expect(asked.map(({ method }) => method)).to.deep.equal(["POST", "POST", "GET"]);
    const once = new Waybill({ url: api.url, fetch: flaky(refused()).fetch });
    expect(await failureOf(once.schedules.resume("schedule"))).to.include({ code: "schedule-not-paused" });
  });

  it("takes a job for moved whose move was not answered and that has begun since, and no job that was not moved", async () => {
    const waybill = new Waybill({ url: api.url });
    const inTenYears = "2037-01-01T00:00:00.000Z";
    const moving = async (asked: { scheduledAt?: string | null; priority?: "high" }, isMoved: boolean) => {
      const { jobId } = await waybill.jobs.create({ ...mailing, scheduledAt: inTenYears });
      const fetch: typeof globalThis.fetch = async (url, init) => {
        if (init?.method !== "PATCH" || isBegun) return await globalThis.fetch(url, init);
        isBegun = true;
        if (isMoved) await globalThis.fetch(url, init);
        await happen(api.log, { tenant: "default", jobId }, [jobStarted()]);
        throw new TypeError("The connection was lost.");
      };
      let isBegun = false;
      return await new Waybill({ url: api.url, fetch }).jobs.reschedule(jobId, asked);
    };
    const longAgo = "2001-01-01T00:00:00.000Z";
    for (const scheduledAt of [null, longAgo]) {
      expect(await moving({ scheduledAt }, true)).to.include({ status: "processing", scheduledAt: null });
      expect(await failureOf(moving({ scheduledAt }, false))).to.include({ code: "job-has-started" });
    }
    expect(await moving({ priority: "high" }, true)).to.include({ status: "processing", priority: "high" });
    expect(await failureOf(moving({ priority: "high" }, false))).to.include({ code: "job-has-started" });
  });

  it("shows the first mail without making a job", async () => {
    const before = await jobsStored();
    const { mail } = await new Waybill({ url: api.url }).jobs.dryRun({
      ...mailing,
      recipients: ["Ada <ada@example.com>"],
    });
    expect(mail.to).to.equal("Ada <ada@example.com>");
    expect(await jobsStored()).to.equal(before);
  });

  it("keeps templates and suppressions, and imports these from a list", async () => {
    const { templates, suppressions } = new Waybill({ url: api.url });
    expect(await templates.put("hello", { subject: "Hi {{ name }}", html: "<p>Hi</p>" })).to.include({ version: 1 });
    expect((await templates.preview("hello", { variables: { name: "Ada" } })).subject).to.equal("Hi Ada");
    expect((await templates.get("hello")).name).to.equal("hello");
    const lines = [{ email: "eve@example.com" }, { email: "zoe@example.com", reason: "complaint" as const }];
    expect(await suppressions.import(lines)).to.include({ added: 2 });
    const found: (string | null)[] = [];
    for await (const { email } of suppressions.list()) found.push(email);
    expect(found).to.include.members(["eve@example.com", "zoe@example.com"]);
    await suppressions.remove("eve@example.com");
    expect((await failureOf(suppressions.remove("eve@example.com"))) as RequestRefused).to.include({
      code: "suppression-not-found",
    });
  });

  it("imports suppressions again where the answer is lost, also from a source that can be read only once", async () => {
    async function* complaints() {
      yield { email: "ann@example.com", reason: "complaint" as const };
    }
    const { fetch, asked } = flaky(null);
    const { entries } = await new Waybill({ url: api.url, fetch }).suppressions.import(complaints());
    expect([entries, asked.length]).to.deep.equal([1, 2]);
  });

  it("goes through a list from the page on that it is asked to begin with", async () => {
    const page = (id: string, nextCursor: string | null) =>
      Response.json({ data: [{ id }], pagination: { nextCursor } });
    const { fetch, asked } = flaky(page("third", "after-third"), page("fourth", null));
    const found: string[] = [];
    for await (const { id } of new Waybill({ url: api.url, fetch }).jobs.list({ page: 3, pageSize: 1 })) found.push(id);
    expect(found).to.deep.equal(["third", "fourth"]);
    // The service refuses a page beside a cursor.
    expect(asked.map(({ url }) => new URL(url).search)).to.deep.equal([
      "?page=3&pageSize=1",
      "?pageSize=1&cursor=after-third",
    ]);
  });

  it("follows no redirect: a list of jobs would pass for the job that it was to create", async () => {
    const proxy = createServer(({ method }, response) => {
      if (method === "GET") response.end('{"data": []}');
      else response.writeHead(301, { Location: "/v2/api/jobs" }).end("<p>Moved</p>");
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const waybill = new Waybill({ url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
    const failure = (await failureOf(waybill.jobs.create(mailing))) as RequestRefused;
    expect(failure).to.be.instanceOf(RequestRefused).and.include({ status: 301, code: null });
    expect(failure.message).to.include("a redirect to /v2/api/jobs");
    proxy.closeAllConnections();
    proxy.close();
  });

  it("makes a key of its own also where the one of the program is undefined", async () => {
    const { fetch, asked } = flaky(...Array.from({ length: 3 }, () => Response.json({})));
    const { jobs, mailings, schedules } = new Waybill({ url: api.url, fetch });
    const options = { idempotencyKey: undefined };
    await jobs.create(mailing, options);
    await mailings.create({ subject: "News", body: "Hi" }, options);
    await schedules.create({ name: "Daily", cron: "0 8 * * *", timeZone: "UTC", job: mailing }, options);
    for (const { headers } of asked) expect(headers.get("Idempotency-Key")).to.match(/^[0-9a-f-]{36}$/);
  });

  it("does not repeat a request that could take effect twice", async () => {
    const { fetch, asked } = flaky(null);
    const waybill = new Waybill({ url: api.url, fetch });
    expect(await failureOf(waybill.request("post", "/api/jobs", { body: mailing }))).to.be.instanceOf(NoAnswer);
    expect(asked).to.have.length(1);
  });

  it("says what the service refused, and does not ask again", async () => {
    const { fetch, asked } = flaky();
    const waybill = new Waybill({ url: api.url, fetch });
    const failure = (await failureOf(waybill.jobs.create({ ...mailing, recipients: ["ada"] }))) as RequestRefused;
    expect(failure).to.include({ name: "RequestRefused", status: 400, code: "validation-failed" });
    expect(failure.problem?.errors?.map(({ pointer }) => pointer)).to.deep.equal(["/recipients/0"]);
    expect(failure.requestId).to.match(/./);
    expect(asked).to.have.length(1);
  });

  it("imports recipients as they come, again from the beginning where the answer is lost, and starts the mailing once", async () => {
    const { recipients: _, ...letter } = mailing;
    const { mailingId } = await new Waybill({ url: api.url }).mailings.create(letter);
    const people = async function* () {
      for (let number = 0; number < 2500; number += 1) yield { email: `p${number}@example.com`, variables: { number } };
    };
    const { fetch } = flaky(null);
    const again = await new Waybill({ url: api.url, fetch }).mailings.addRecipients(mailingId, people);
    expect(again).to.include({ added: 0, duplicates: 2500, faulty: 0 });
    const waybill = new Waybill({ url: api.url });
    const stream = new ReadableStream<string>({
      start: (controller) => {
        controller.enqueue("ada@example.com");
        controller.close();
      },
    });
    expect(await waybill.mailings.addRecipients(mailingId, stream)).to.include({ added: 1 });
    const lossy = new Waybill({ url: api.url, fetch: flaky(null).fetch });
    expect((await lossy.mailings.start(mailingId)).progress.total).to.equal(2501);
  });

  it("follows the events from where it stopped, and waits for new ones", async () => {
    const waybill = new Waybill({ url: api.url });
    const { jobId } = await waybill.jobs.create(mailing);
    const first = await nextOf(waybill.events.follow({ types: ["JobCreated"] }));
    const seen: string[] = [];
    for await (const event of waybill.events.follow({ after: cursorOf(first), types: ["JobCreated"] })) {
      if (event.type === "JobCreated") seen.push(event.jobId);
      if (seen.at(-1) === jobId) break;
    }
    expect(seen)
      .to.include(jobId)
      .and.not.include((first as { jobId?: string }).jobId);
  });

  it("knows a webhook of the service from any other", async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const body = JSON.stringify({ type: "job.completed", timestamp: "2026-11-21T09:30:00.000Z", data: {} });
    const message = { id: "1", at: new Date().toISOString(), body: Buffer.from(body) };
    const headers = signatureHeaders(message, [{ text: secret, validUntil: null }]);
    expect((await verifyWebhook({ headers, body, secret })).type).to.equal("job.completed");
    const ofRuntime = new Headers(headers);
    const ofLibrary = { get: (name: string) => ofRuntime.get(name) } as Headers;
    for (const other of [ofRuntime, ofLibrary]) {
      expect((await verifyWebhook({ headers: other, body, secret })).type).to.equal("job.completed");
    }
    const other = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
    const old = signatureHeaders({ ...message, at: "2026-01-01T00:00:00.000Z" }, [{ text: secret, validUntil: null }]);
    for (const wrong of [
      { headers, body: `${body} `, secret },
      { headers, body, secret: other },
      { headers: old, body, secret },
      { headers: {}, body, secret },
    ]) {
      expect(await failureOf(verifyWebhook(wrong)))
        .to.be.instanceOf(WebhookRefused)
        .and.include({
          code: "webhook-refused",
        });
    }
  });
});

async function nextOf<Item>(items: AsyncGenerator<Item>): Promise<Item> {
  for await (const item of items) return item;
  throw new Error("There is no item.");
}
