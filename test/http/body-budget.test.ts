import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { createBodyBudget, NoRoomForBody } from "../../src/http/server/body-budget.ts";
import { listen } from "../../src/http/server/listen.ts";
import { leastBodyBudget } from "../../src/schemas/job-request.ts";
import { eventually } from "../support/eventually.ts";
import { createTestApi, mailing, type RunningApi, startApi } from "../support/running-api.ts";

const large = 7_900_000;

/** A mailing of that many bytes, which is accepted. */
const largeMailing = (bytes = 6_900_000): string => {
  const file = { filename: "a.bin", contentType: "application/octet-stream", content: "A".repeat(bytes - 200) };
  return JSON.stringify({ ...mailing, attachments: [file] });
};

describe("The bodies that an API process has in hand", () => {
  const bodies = createBodyBudget(leastBodyBudget);
  let api: RunningApi;
  let slow: Socket | null = null;

  before(async () => {
    api = await startApi({ bodies });
  });
  afterEach(async () => {
    slow?.destroy();
    await eventually(() => expect(bodies.held()).to.equal(0));
  });
  after(() => api.close());

  const headOf = (bytes: number): string =>
    `POST /api/jobs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;

  /** A large request of which the body does not come. */
  const beginLarge = async (url = api.url): Promise<Socket> => {
    slow = connect({ port: Number(new URL(url).port), allowHalfOpen: true });
    slow.on("error", () => {});
    slow.write(`${headOf(large)}{`);
    await eventually(() => expect(bodies.held()).to.be.greaterThan(large));
    return slow;
  };

  const refused = { status: 503, code: "no-room-for-body" };
  const expectRefused = async (asked: Promise<{ status: number; headers: Headers; body: { code?: string } }>) => {
    const { status, headers, body } = await asked;
    expect({ status, code: body.code }).to.deep.equal(refused);
    expect(headers.get("Retry-After")).to.equal("2");
  };

  it("have a limit together: above it one more is refused before a byte of it was sent, and small ones are served", async () => {
    await beginLarge();
    const next = connect(Number(new URL(api.url).port), "127.0.0.1");
    next.write(headOf(large));
    const [answer] = await once(next, "data");
    next.destroy();
    expect(String(answer))
      .to.match(/^HTTP\/1.1 503 /)
      .and.match(/\r\nRetry-After: 2\r\n/)
      .and.match(/"code":"no-room-for-body"/);
    for (let count = 0; count < 20; count += 1) {
      expect((await api.ask("POST", "/api/jobs", { body: mailing })).status).to.equal(201);
    }
  });

  it("are given back when they are done, when their client hangs up, and when they are refused", async () => {
    (await beginLarge()).destroy();
    await eventually(() => expect(bodies.held()).to.equal(0));
    const body = largeMailing();
    for (let count = 0; count < 3; count += 1) {
      expect((await api.ask("POST", "/api/jobs", { body })).status).to.equal(201);
      expect((await api.ask("POST", "/api/jobs", { body: body.replace("{", "[") })).status).to.equal(400);
      expect((await api.ask("POST", "/api/jobs", { body: body.replace("{", '{"dryRun":true,') })).status).to.equal(200);
    }
  });

  it("are counted as they come where no length is declared", async () => {
    const post = () => {
      const body = largeMailing();
      const chunks = async function* () {
        for (let at = 0; at < body.length; at += 100_000) yield Buffer.from(body.slice(at, at + 100_000));
      };
      const headers = { "Content-Type": "application/json" };
      const stream = ReadableStream.from(chunks());
      return fetch(`${api.url}/api/jobs`, { method: "POST", headers, body: stream, duplex: "half" } as RequestInit);
    };
    expect((await post()).status).to.equal(201);
    await beginLarge();
    const { status, headers } = await post();
    expect({ status, retryAfter: headers.get("Retry-After") }).to.deep.equal({ status: 503, retryAfter: "2" });
  });

  it("are counted as they are unpacked", async () => {
    const packed = { body: gzipSync(largeMailing()), headers: { "Content-Encoding": "gzip" } };
    expect((await api.ask("POST", "/api/jobs", packed)).status).to.equal(201);
    await beginLarge();
    await expectRefused(api.ask("POST", "/api/jobs", packed));
  });

  it("are counted where they are read as they come: a list of suppressions", async () => {
    const list = { body: `email\n${"ada@example.com\n".repeat(480_000)}`, headers: { "Content-Type": "text/csv" } };
    await beginLarge();
    await expectRefused(api.ask("POST", "/api/suppressions/import", list));
  });

  it("are refused before they are read where they say that they are longer than a route reads as they come", async () => {
    const list = { body: `email\n${"ada@example.com\n".repeat(560_000)}`, headers: { "Content-Type": "text/csv" } };
    const { status, body } = await api.ask("POST", "/api/suppressions/import", list);
    expect({ status, detail: body.detail }).to.deep.equal({
      status: 413,
      detail: "The body is larger than 8388608 bytes.",
    });
  });

  it("are refused before they are parsed where what they hold takes more than any request may have", async () => {
    const { status, body } = await api.ask("POST", "/api/jobs", {
      body: `{"recipients":[${"{},".repeat(900_000)}{}]}`,
    });
    expect({ status, code: body.code }).to.deep.equal({ status: 413, code: "body-too-large" });
    expect(body.detail).to.match(/memory/);
  });

  it("are refused before they are parsed also where they are notifications of a provider", async () => {
    for (const provider of ["ses", "postmark", "sendgrid"]) {
      const { status, body } = await api.ask("POST", `/api/bounces/${provider}`, {
        body: `[${"1,".repeat(900_000)}1]`,
      });
      expect({ status, code: body.code }, provider).to.deep.equal({ status: 413, code: "body-too-large" });
    }
  });

  it("do not include one whose answer waits for the end of its job", async () => {
    const waiting = api.ask("POST", "/api/jobs", { body: largeMailing(), headers: { Prefer: "wait=60" } });
    await eventually(async () => expect(api.stored).to.have.length.greaterThan(0));
    await eventually(() => expect(bodies.held()).to.equal(0));
    expect((await api.ask("POST", "/api/jobs", { body: largeMailing() })).status).to.equal(201);
    await api.close();
    expect((await waiting).status).to.equal(201);
    api = await startApi({ bodies });
  });

  it("include a large answer until its client has it", async () => {
    const body = largeMailing().replace("{", '{"dryRun":true,');
    slow = connect({ port: Number(new URL(api.url).port) }).on("error", () => {});
    slow.write(headOf(body.length) + body);
    await once(slow, "readable");
    expect(bodies.held()).to.be.within(6_000_000, 12_000_000);
  });

  it("leave no room for a large answer where they fill it, as the document of the API says", async () => {
    const raw = Buffer.alloc(500_000, "x");
    const mail = { id: "a", receivedAt: new Date(), from: "a@example.com", to: [], subject: "Hi", raw };
    const other = await startApi({ bodies, mailbox: { list: () => [mail], find: () => mail } });
    const full = bodies.open("default");
    full.takeBytes(14_600_000);
    await expectRefused(other.ask("GET", "/mailbox/a")).finally(() => full.close());
    expect((await other.ask("GET", "/mailbox/a")).status).to.equal(200);
    await other.close();
  });

  it("do not include files for clients without a key, who could fill it otherwise, and find it full", async () => {
    const full = bodies.open("default");
    full.takeBytes(14_600_000);
    const { status } = await api.ask("GET", "/openapi.json", { headers: { "Accept-Encoding": "identity" } });
    full.close();
    expect(status).to.equal(200);
  });

  it("do not include for ever one that does not come", async () => {
    const { app, live } = createTestApi({ bodies });
    const limits = {
      headersTimeout: 1500,
      requestTimeout: 1500,
      keepAliveTimeout: 1000,
      connectionsCheckingInterval: 20,
    };
    const { url, close } = await listen(app, "127.0.0.1", 0, limits);
    try {
      const socket = await beginLarge(url);
      const [answer] = await once(socket, "data");
      expect(String(answer)).to.match(/^HTTP\/1.1 408 /);
      await eventually(() => expect(bodies.held()).to.equal(0));
    } finally {
      live.close();
      await close();
    }
  });

  it("of one tenant leave room for those of another", () => {
    const budget = createBodyBudget(1000 * 1024 * 1024);
    const fill = (tenant: string): number => {
      for (let count = 0; ; count += 1) {
        try {
          budget.open(tenant).takeBytes(large);
        } catch (failure) {
          expect(failure).to.be.instanceOf(NoRoomForBody);
          return count;
        }
      }
    };
    expect(fill("acme")).to.be.greaterThan(3);
    expect(fill("umbrella")).to.be.greaterThan(3);
    // Of small ones both are served still.
    budget.open("acme").takeBytes(10_000);
    budget.open("umbrella").takeBytes(10_000);
  });
});
