import { expect } from "chai";
import { encodeContent } from "../../src/content/encode-content.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { Archived, LogFull } from "../../src/event-log/log-failures.ts";
import { createSuppressionList } from "../../src/suppressions/suppression-list.ts";
import type { SuppressionStore } from "../../src/suppressions/suppression-store.ts";
import { now } from "../support/examples.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { createMemorySuppressionStore } from "../support/memory/memory-suppression-store.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";
import { exampleContent } from "../support/write-side.ts";

const job = { tenant: "acme", jobId: "job-1" };
const recipients = ["ada@example.com", "bob@example.com", "eve@example.com"];

describe("the link to unsubscribe by", () => {
  let api: RunningApi;
  let store: SuppressionStore;
  let isAway = false;
  let appendFails: Error | null = null;
  let isSlow = false;
  let archived: Error | null = null;

  beforeEach(async () => {
    isAway = false;
    const memory = createMemorySuppressionStore();
    store = {
      ...memory,
      put: async (key, suppression) => {
        if (isAway) throw new Unavailable("away");
        return await memory.put(key, suppression);
      },
    };
    [appendFails, isSlow, archived] = [null, false, null];
    const events = createMemoryEventLog();
    const log: typeof events = {
      ...events,
      append: (...given) => {
        if (isSlow) return new Promise(() => {});
        return appendFails === null ? events.append(...given) : Promise.reject(appendFails);
      },
      readDecisions: (of) => (archived === null ? events.readDecisions(of) : Promise.reject(archived)),
    };
    api = await startApi({ suppressions: createSuppressionList(store), log });
    const content = { ...exampleContent, recipients: recipients.map((email) => ({ email })) };
    await api.contentStore.put(job, encodeContent(content));
  });
  afterEach(() => api.close());

  const list = () => createSuppressionList(store);
  const pathTo = async (recipient: number, email = recipients[recipient] ?? "", of = job) =>
    `/unsubscribe/${(await list().links()).tokenFor(of, recipient, email)}`;
  const find = (email: string) => list().find("acme", email);
  const oneClick = (path: string, headers: Record<string, string> = {}) =>
    fetch(api.url + path, {
      method: "POST",
      redirect: "error",
      headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
      body: "List-Unsubscribe=One-Click",
    });

  it("shows a page with a button and changes nothing, however often it is looked at", async () => {
    const path = await pathTo(0);
    for (const method of ["GET", "HEAD"]) {
      const answer = await fetch(`${api.url}${path}?utm_source=newsletter`, { method });
      expect(answer.status).to.equal(200);
      expect(answer.headers.get("Content-Type")).to.match(/^text\/html/);
      expect(answer.headers.get("Content-Security-Policy")).to.equal(
        "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      const page = await answer.text();
      if (method === "GET")
        expect(page)
          .to.match(/<form method="post">/)
          .and.not.match(/<script|http|example\.com/);
    }
    expect(await find("ada@example.com")).to.equal(null);
  });

  it("unsubscribes with one POST as RFC 8058 has it: no cookie, no redirect", async () => {
    const answer = await oneClick(await pathTo(0));
    expect(answer.status).to.equal(200);
    expect(answer.headers.get("Set-Cookie")).to.equal(null);
    expect(await answer.text())
      .to.match(/unsubscribed/)
      .and.not.match(/example\.com/);
    expect(await find("ada@example.com")).to.deep.equal({
      email: "ada@example.com",
      reason: "unsubscribe",
      createdAt: now,
    });
    expect(await find("bob@example.com")).to.equal(null);
    expect(await list().find("default", "ada@example.com")).to.equal(null);
  });

  it("takes the form of either kind, and whatever a provider accepts", async () => {
    const body = new FormData();
    body.set("List-Unsubscribe", "One-Click");
    expect((await fetch(api.url + (await pathTo(1)), { method: "POST", body })).status).to.equal(200);
    for (const Accept of ["*/*", "application/json", "text/plain"]) {
      expect((await oneClick(await pathTo(2), { Accept })).status).to.equal(200);
    }
    expect((await find("bob@example.com"))?.reason).to.equal("unsubscribe");
    expect((await find("eve@example.com"))?.reason).to.equal("unsubscribe");
  });

  it("says the same the second time, and leaves a reason that was there before", async () => {
    await list().add("acme", "ada@example.com", "hard-bounce", now);
    const path = await pathTo(0);
    expect([(await oneClick(path)).status, (await oneClick(path)).status]).to.deep.equal([200, 200]);
    expect((await find("ada@example.com"))?.reason).to.equal("hard-bounce");
  });

  it("holds also where the content was erased: the address is unknown then, and suppressed all the same", async () => {
    const path = await pathTo(0, "ada@example.com", { ...job, jobId: "erased" });
    expect((await oneClick(path)).status).to.equal(200);
    expect(await find("ada@example.com")).to.include({ email: null, reason: "unsubscribe" });
  });

  it("is not there where it was not signed", async () => {
    const path = await pathTo(0);
    for (const wrong of [`${path}x`, path.replace(".0.", ".1."), "/unsubscribe/x", "/unsubscribe/..%2f"]) {
      expect((await fetch(api.url + wrong)).status, wrong).to.equal(404);
      expect((await oneClick(wrong)).status, wrong).to.equal(404);
    }
    expect((await store.page("acme", { after: 0, limit: 10 })).suppressions).to.deep.equal([]);
  });

  describe("of a mail that the log knows", () => {
    const create = async () => {
      const { body } = await api.ask("POST", "/api/jobs", {
        body: { subject: "News", body: "Hello", recipients, unsubscribe: true },
      });
      const mailed = { tenant: "default", jobId: body.jobId as string };
      return { mailed, path: await pathTo(1, recipients[1], mailed) };
    };
    const recorded = async (of: typeof job) => (await api.log.readFeedback(of)).map(({ id, event }) => ({ id, event }));

    it("is recorded once, however often and at the same moment it is used, and named by the list", async () => {
      const { mailed, path } = await create();
      await Promise.all([oneClick(path), oneClick(path), oneClick(path)]);
      await oneClick(path);
      const id = `${mailed.jobId}:1:unsubscribed`;
      expect(await recorded(mailed)).to.deep.equal([
        { id, event: { type: "RecipientUnsubscribed", at: now, data: { recipient: 1 } } },
      ]);
      expect(await list().find("default", "bob@example.com")).to.include({ reason: "unsubscribe", event: id });
    });

    it("suppresses the address also where the log is full or away, and says so only where it will be recorded later", async () => {
      for (const [failure, status] of [
        [new LogFull("full"), 200],
        [new Unavailable("away"), 503],
      ] as const) {
        const { mailed, path } = await create();
        await list().remove("default", "bob@example.com", new Date().toISOString());
        appendFails = failure;
        expect((await oneClick(path)).status).to.equal(status);
        appendFails = null;
        expect((await list().find("default", "bob@example.com"))?.reason).to.equal("unsubscribe");
        expect(await recorded(mailed)).to.deep.equal([]);
        expect((await oneClick(path)).status).to.equal(200);
        expect(await recorded(mailed)).to.have.lengthOf(1);
      }
    });
  });

  it("suppresses the address where the log takes as long as a request may, and says that it was not recorded", async () => {
    const { body } = await api.ask("POST", "/api/jobs", {
      body: { subject: "News", body: "Hello", recipients, unsubscribe: true },
    });
    const path = await pathTo(1, recipients[1], { tenant: "default", jobId: body.jobId });
    isSlow = true;
    expect((await oneClick(path)).status).to.equal(503);
    expect((await list().find("default", "bob@example.com"))?.reason).to.equal("unsubscribe");
  });

  it("works for a mail whose job is in a file of the archive that is not at hand", async () => {
    archived = new Archived("log-1-2.waybill", "it is not there");
    expect((await oneClick(await pathTo(0))).status).to.equal(200);
    expect((await find("ada@example.com"))?.reason).to.equal("unsubscribe");
  });

  it("is limited where one link is used over and over, and no other link is", async () => {
    const path = await pathTo(0);
    const statuses: number[] = [];
    for (let times = 0; times < 11; times += 1) statuses.push((await oneClick(path)).status);
    expect(statuses).to.deep.equal([...Array(10).fill(200), 429]);
    expect((await oneClick(await pathTo(1))).status).to.equal(200);
  });

  it("says that it was not done where NATS is away", async () => {
    const path = await pathTo(0);
    isAway = true;
    const answer = await oneClick(path);
    expect([answer.status, answer.headers.get("Retry-After")]).to.deep.equal([503, "2"]);
  });

  it("leaves neither token nor address in the log of the process", async () => {
    const path = await pathTo(0);
    await oneClick(path);
    await fetch(api.url + path);
    expect(api.logged.join(""))
      .not.to.include(path.slice(-22))
      .and.not.match(/example\.com/);
  });
});

describe("a mailing whose mails can be unsubscribed", () => {
  const mailing = { subject: "News", body: "Hello", recipients: ["ada@example.com"], unsubscribe: true };
  let api: RunningApi;

  afterEach(() => api.close());

  it("is refused where PUBLIC_URL is not set", async () => {
    api = await startApi({
      mail: { mailFrom: "Waybill <waybill@example.org>", dkim: null, publicUrl: null, returnPaths: null },
    });
    const headers = { "list-unsubscribe": "<https://example.org/u>" };
    const { status, body } = await api.ask("POST", "/api/jobs", { body: { ...mailing, headers } });
    expect(status).to.equal(400);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal([
      "/headers/list-unsubscribe",
      "/unsubscribe",
    ]);
    expect(body.errors[1].message).to.include("PUBLIC_URL");
    const without = { ...mailing, unsubscribe: false, headers };
    expect((await api.ask("POST", "/api/jobs", { body: without })).status).to.equal(201);
  });

  it("knows the link in its templates, and nowhere else", async () => {
    api = await startApi();
    const body = { ...mailing, body: "Bye: {{ unsubscribeUrl }}" };
    expect((await api.ask("POST", "/api/jobs", { body })).status).to.equal(201);
    const without = await api.ask("POST", "/api/jobs", { body: { ...body, unsubscribe: false } });
    expect([without.status, without.body.errors[0].pointer]).to.deep.equal([400, "/recipients/0"]);
  });

  it("shows in a dry run how the headers will be, with a link without effect", async () => {
    api = await startApi();
    const body = { ...mailing, body: "Bye: {{ unsubscribeUrl }}", dryRun: true };
    const { mail } = (await api.ask("POST", "/api/jobs", { body })).body;
    const link = "https://waybill.example.org/unsubscribe/example";
    expect(mail.raw).to.include(`List-Unsubscribe: <${link}>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n`);
    expect(mail.text).to.equal(`Bye: ${link}`);
    expect((await api.ask("GET", "/unsubscribe/example")).status).to.equal(404);
  });
});
