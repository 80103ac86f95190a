import { expect } from "chai";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { LogFull } from "../../src/event-log/log-failures.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { type Answered, mailing, type RunningApi, startApi } from "../support/running-api.ts";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const job = "/api/jobs/0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f";

const expectProblem = ({ status, headers, body }: Answered, expected: { status: number; code: string }) => {
  expect({ status, code: body.code }).to.deep.equal(expected);
  expect(headers.get("Content-Type")).to.equal("application/problem+json");
  expect(body).to.include({
    type: `urn:waybill:problem:${expected.code}`,
    status,
    requestId: headers.get("X-Request-Id"),
  });
  expect(body.title).to.be.a("string").that.is.not.equal("");
  expect(body.detail).to.be.a("string").that.is.not.equal("");
};

describe("Whatever is asked of the API", () => {
  let api: RunningApi;

  before(async () => {
    api = await startApi();
  });
  after(() => api.close());

  it("is answered with an id for the request, which the process's log names as well", async () => {
    const { headers } = await api.ask("GET", "/livez");
    expect(headers.get("X-Request-Id")).to.match(uuid);
    await api.ask("GET", "/api/nothing", { headers: { "X-Request-Id": "order-17" } });
    expect(JSON.parse(api.logged.at(-1) ?? "")).to.include({ requestId: "order-17", method: "GET", status: 404 });
  });

  it("keeps the id that the client gave it, unless that could do harm in a log", async () => {
    const answered = (id: string) => api.ask("GET", "/livez", { headers: { "X-Request-Id": id } });
    expect((await answered("order-17")).headers.get("X-Request-Id")).to.equal("order-17");
    expect((await answered("x".repeat(129))).headers.get("X-Request-Id")).to.match(uuid);
    expect((await answered("a b")).headers.get("X-Request-Id")).to.match(uuid);
    expect((await answered("welcome-ada@example.com")).headers.get("X-Request-Id")).to.match(uuid);
  });

  it("is answered with nothing to cache, to guess or to frame", async () => {
    const { headers } = await api.ask("POST", "/api/jobs", { body: mailing });
    expect(headers.get("Cache-Control")).to.equal("no-store");
    expect(headers.get("X-Content-Type-Options")).to.equal("nosniff");
    expect(headers.get("Content-Security-Policy")).to.equal("default-src 'none'; frame-ancestors 'none'");
    expect(headers.get("X-Powered-By")).to.equal(null);
  });

  for (const [method, path] of [
    ["GET", "/nothing"],
    ["GET", "/api"],
    ["GET", "/API/jobs"],
    ["POST", "/api/v2/jobs"],
    ["GET", `${job}/attempts`],
    ["GET", "/mailbox"],
    ["OPTIONS", "/nothing"],
    ["GET", "/%"],
    ["GET", "//"],
  ] as const) {
    it(`is not found as ${method} ${path}`, async () => {
      expectProblem(await api.ask(method, path), { status: 404, code: "route-not-found" });
    });
  }

  for (const [method, path, allow] of [
    ["PUT", "/api/jobs", "POST, HEAD, GET, OPTIONS"],
    ["PUT", job, "HEAD, GET, DELETE, PATCH, OPTIONS"],
    ["GET", `${job}/retry`, "POST, OPTIONS"],
    ["DELETE", `${job}/events`, "HEAD, GET, OPTIONS"],
    ["POST", "/readyz", "HEAD, GET, OPTIONS"],
  ] as const) {
    it(`hears which methods there are instead of ${method} ${path}`, async () => {
      const answered = await api.ask(method, path, method === "GET" ? {} : { body: mailing });
      expectProblem(answered, { status: 405, code: "method-not-allowed" });
      expect(answered.headers.get("Allow")).to.equal(allow);
    });
  }

  it("hears of the methods of a path by OPTIONS", async () => {
    const { status, headers, body } = await api.ask("OPTIONS", "/api/jobs");
    expect({ status, allow: headers.get("Allow"), body }).to.deep.equal({
      status: 204,
      allow: "POST, HEAD, GET, OPTIONS",
      body: "",
    });
  });

  it("has the headers of GET, and no body, by HEAD", async () => {
    const { status, headers, body } = await api.ask("HEAD", "/livez");
    expect({ status, length: headers.get("Content-Length"), body }).to.deep.equal({
      status: 200,
      length: "14",
      body: "",
    });
  });

  for (const accept of ["text/html", "application/xml;q=1, text/plain", "application/json;q=0"]) {
    it(`is refused and does nothing when all that is accepted is ${accept}`, async () => {
      const before = await api.log.state();
      const answered = await api.ask("POST", "/api/jobs", { body: mailing, headers: { Accept: accept } });
      expectProblem(answered, { status: 406, code: "not-acceptable" });
      expect(await api.log.state()).to.deep.equal(before);
    });
  }

  for (const accept of ["application/json", "*/*", "text/html, */*;q=0.1", "application/*"]) {
    it(`is answered in JSON when ${accept} is accepted`, async () => {
      const { headers } = await api.ask("GET", "/livez", { headers: { Accept: accept } });
      expect(headers.get("Content-Type")).to.equal("application/json");
    });
  }

  for (const path of [
    "/livez?verbose=1",
    "/readyz?x",
    `${job}?as_of=1`,
    `${job}/events?after=1`,
    `${job}/logs?page=2`,
  ]) {
    it(`is refused with an unknown parameter: ${path}`, async () => {
      const answered = await api.ask("GET", path);
      expectProblem(answered, { status: 400, code: "validation-failed" });
      const name = path.split("?")[1]?.split("=")[0];
      expect(answered.body.errors[0].pointer).to.equal(`?${name}`);
      expect(answered.body.errors[0].message).to.match(new RegExp(`^${name} is not a known parameter; expected `));
    });
  }

  for (const header of ["-1", "1.5", "x", "99999999999999999999"]) {
    it(`is refused with the Min-Sequence ${header}`, async () => {
      for (const path of ["/api/jobs", job, `${job}/logs`]) {
        const answered = await api.ask("GET", path, { headers: { "Min-Sequence": header } });
        expectProblem(answered, { status: 400, code: "validation-failed" });
        expect(answered.body.errors[0].pointer).to.equal("Min-Sequence");
      }
    });
  }
});

describe("A request that meets a broken machine", () => {
  let api: RunningApi;

  afterEach(() => api.close());

  const startBroken = async (failure: unknown): Promise<void> => {
    const broken = async (): Promise<never> => {
      throw failure;
    };
    const log = { ...createMemoryEventLog(), append: broken, readDecisions: broken, readHistory: broken };
    api = await startApi({ log });
  };

  for (const [failure, code] of [
    [new Unavailable("no connection to 10.0.0.7:4222"), "event-log-unavailable"],
    [new LogFull("maximum bytes exceeded"), "event-log-full"],
  ] as const) {
    it(`is told ${code}, and when to try again`, async () => {
      await startBroken(failure);
      for (const [method, path] of [
        ["POST", "/api/jobs"],
        ["POST", `${job}/retry`],
        ["DELETE", job],
      ] as const) {
        const answered = await api.ask(method, path, path === "/api/jobs" ? { body: mailing } : {});
        expectProblem(answered, { status: 503, code });
        expect(Number(answered.headers.get("Retry-After"))).to.be.greaterThan(0);
        expect(JSON.stringify(answered.body)).not.to.match(/10\.0\.0\.7|maximum bytes/);
      }
    });
  }

  it("is told the id under which a defect of ours was logged, and nothing of the inside", async () => {
    await startBroken(new TypeError("Cannot read properties of undefined"));
    const answered = await api.ask("POST", "/api/jobs", { body: mailing });
    expectProblem(answered, { status: 500, code: "internal-error" });
    expect(JSON.stringify(answered.body)).not.to.match(/undefined|\.ts/);
    const line = api.logged.map((text) => JSON.parse(text)).find(({ failure }) => failure !== undefined);
    expect(line).to.include({ requestId: answered.body.requestId, msg: "a request failed" });
    expect(line.failure).to.include({ name: "TypeError", message: "Cannot read properties of undefined" });
  });

  it("leaves what a client asked for out of the process's log when a database complains", async () => {
    const complaint = "select * from job_logs where email = 'ada@example.com' - Unknown column 'emial'";
    const failure = Object.assign(new Error(complaint), {
      sql: complaint,
      code: "ER_BAD_FIELD_ERROR",
      sqlState: "42S22",
    });
    await startBroken(failure);
    expectProblem(await api.ask("GET", `${job}/events`), { status: 500, code: "internal-error" });
    expect(api.logged.join("\n"))
      .to.match(/ER_BAD_FIELD_ERROR/)
      .and.not.to.match(/ada@/);
  });
});
