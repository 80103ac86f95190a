import { randomBytes, randomUUID } from "node:crypto";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { eventually } from "../support/eventually.ts";
import { type Answered, mailing, type RunningApi, startApi } from "../support/running-api.ts";

const megabyte = 1024 * 1024;
const json = JSON.stringify(mailing);

describe("The body of a request", () => {
  let api: RunningApi;

  beforeEach(async () => {
    api = await startApi();
  });
  afterEach(() => api.close());

  const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
    api.ask("POST", "/api/jobs", { body, headers });

  const expectRefused = async ({ status, body }: Answered, expected: { status: number; code: string }) => {
    expect({ status, code: body.code }).to.deep.equal(expected);
    expect((await api.log.state()).lastSequence).to.equal(0);
    expect(api.stored).to.deep.equal([]);
  };
  const invalidJson = { status: 400, code: "invalid-json" };
  const unsupported = { status: 415, code: "unsupported-media-type" };
  const tooLarge = { status: 413, code: "body-too-large" };

  for (const [title, body] of [
    ["is cut off", '{"subject": "Hi"'],
    ["is a word", "subject"],
    ["is a bare string", '"subject"'],
    ["is a bare number", "17"],
    ["is null", "null"],
    ["is empty", ""],
    ["is no UTF-8", Buffer.from([...Buffer.from('{"subject": "'), 0xff, ...Buffer.from('"}')])],
    ["is UTF-16", Buffer.from(json, "utf16le")],
    ["has a key named __proto__", '{"__proto__": {"subject": "Hi"}}'],
    ["has a key named __proto__ in disguise", '{"metadata": {"\\u005f_proto__": "Hi"}}'],
    ["is nested 33 levels deep", `${'{"a":'.repeat(33)}1${"}".repeat(33)}`],
    ["is nothing but two million brackets", `${"[".repeat(megabyte)}${"]".repeat(megabyte)}`],
    ["has too many keys", JSON.stringify(Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [i, 1])))],
  ] as const) {
    it(`is refused when it ${title}`, async () => expectRefused(await post(body), invalidJson));
  }

  it("is refused when there is none", async () => expectRefused(await api.ask("POST", "/api/jobs"), invalidJson));

  it("may hold brackets in its strings", async () => {
    expect((await post(JSON.stringify({ ...mailing, body: `\\"${"[{".repeat(1000)}` }))).status).to.equal(201);
  });

  it("may begin with a byte order mark", async () => {
    expect((await post(`\ufeff${json}`)).status).to.equal(201);
  });

  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/json",
  ]) {
    it(`is refused as ${type}`, async () => expectRefused(await post(json, { "Content-Type": type }), unsupported));
  }

  it("is refused without a Content-Type", async () => {
    const response = await fetch(`${api.url}/api/jobs`, { method: "POST", body: Buffer.from(json) });
    await expectRefused(
      { status: response.status, headers: response.headers, body: await response.json() },
      unsupported,
    );
  });

  it("is refused in another charset than UTF-8", async () => {
    await expectRefused(await post(json, { "Content-Type": "application/json; charset=iso-8859-1" }), unsupported);
  });

  it("may say that its charset is UTF-8", async () => {
    expect((await post(json, { "Content-Type": "application/json; charset=UTF-8" })).status).to.equal(201);
  });

  it("is refused packed in a way that is not offered, with what is", async () => {
    const answered = await post(json, { "Content-Encoding": "compress" });
    await expectRefused(answered, unsupported);
    expect(answered.headers.get("Accept-Encoding")).to.equal("gzip");
  });

  it("may be packed with gzip", async () => {
    expect((await post(gzipSync(json), { "Content-Encoding": "gzip" })).status).to.equal(201);
  });

  it("is refused when its gzip is broken", async () => {
    await expectRefused(await post(json, { "Content-Encoding": "gzip" }), invalidJson);
  });

  it("is too large when it unpacks to more than 9 MiB", async () => {
    const bomb = gzipSync(Buffer.alloc(100 * megabyte, " "));
    await expectRefused(await post(bomb, { "Content-Encoding": "gzip" }), tooLarge);
  });

  it("is too large with more than 9 MiB", async () => {
    await expectRefused(await post(randomBytes(10 * megabyte)), tooLarge);
  });

  it("is too large with more than 4 MiB where there are no attachments", async () => {
    const body = randomBytes(5 * megabyte);
    await expectRefused(await api.ask("POST", `/api/jobs/${randomUUID()}/retry`, { body }), tooLarge);
  });

  it("may be sent to its end by a client that reads no answer before, and gets one", async () => {
    const body = Buffer.alloc(20 * megabyte, " ");
    const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
    socket.write(
      `POST /api/jobs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    await new Promise<unknown>((resolve) => socket.write(body, resolve));
    const answer = Buffer.concat(await socket.toArray()).toString();
    expect(answer)
      .to.match(/^HTTP\/1.1 413 /)
      .and.match(/"code":"body-too-large"/);
  });

  it("is too large with more than 9 MiB of undeclared length", async () => {
    const chunks = async function* () {
      for (let sent = 0; sent < 11; sent += 1) yield new Uint8Array(megabyte);
    };
    const response = await fetch(`${api.url}/api/jobs`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: ReadableStream.from(chunks()),
      duplex: "half",
    } as RequestInit);
    await expectRefused({ status: response.status, headers: response.headers, body: await response.json() }, tooLarge);
  });

  it("may end too early: nothing is stored, and nothing of it is taken for a defect", async () => {
    const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
    const head = "POST /api/jobs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n";
    await new Promise<unknown>((resolve) => socket.write(`${head}{"subject":`, resolve));
    socket.destroy();
    const lines = await eventually(() => {
      expect(api.logged).to.have.length(2);
      return api.logged.map((line) => JSON.parse(line));
    });
    expect(lines[0]).to.include({ level: 20, msg: "client went away" });
    expect(lines[1]).to.include({ msg: "request", status: 400 });
    expect((await api.log.state()).lastSequence).to.equal(0);
  });

  it("stands in no line of the process's log, refused or taken", async () => {
    await post('{"subject": "classified"');
    await post(JSON.stringify({ ...mailing, subject: "classified", colour: "classified" }));
    await post(JSON.stringify({ ...mailing, subject: "classified" }));
    expect(api.logged).to.have.length(3);
    expect(api.logged.join("\n")).not.to.match(/classified|ada@/);
  });
});
