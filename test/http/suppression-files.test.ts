import { expect } from "chai";
import { createSuppressionList, type SuppressionList } from "../../src/suppressions/suppression-list.ts";
import { earlier, now } from "../support/examples.ts";
import { createMemorySuppressionStore } from "../support/memory/memory-suppression-store.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

const csv = { "Content-Type": "text/csv" };
const ndjson = { "Content-Type": "application/x-ndjson" };

describe("a whole suppression list", () => {
  let api: RunningApi;
  let suppressions: SuppressionList;

  beforeEach(async () => {
    suppressions = createSuppressionList(createMemorySuppressionStore());
    api = await startApi({ suppressions });
  });
  afterEach(() => api.close());

  const send = (body: string | Uint8Array, headers: Record<string, string> = csv, query = "") =>
    api.ask("POST", `/api/suppressions/import${query}`, { body, headers });
  const listed = async () => (await suppressions.page("default", { after: 0, limit: 1000 })).suppressions;
  const exported = (query = "", headers: Record<string, string> = {}) =>
    api.ask("GET", `/api/suppressions/export${query}`, { headers });
  const pointersOf = ({ body }: { readonly body: { readonly errors: readonly { pointer: string }[] } }) =>
    body.errors.map(({ pointer }) => pointer);

  it("is imported as CSV, each address once; existing entries stay unchanged", async () => {
    await suppressions.add("default", "ada@example.com", "unsubscribe", earlier);
    const file = `email,reason,createdAt\r\nADA@example.com,hard-bounce,\r\nbob@example.com,hard-bounce,${earlier}\r\n"eve@example.com",,\r\nbob@example.com,manual,\r\n`;
    const { status, body } = await send(file, csv, "?reason=unsubscribe");
    expect([status, body]).to.deep.equal([200, { entries: 4, added: 2, existing: 2 }]);
    expect(await listed()).to.have.deep.members([
      { email: "ada@example.com", reason: "unsubscribe", createdAt: earlier },
      { email: "bob@example.com", reason: "hard-bounce", createdAt: earlier },
      { email: "eve@example.com", reason: "unsubscribe", createdAt: now },
    ]);
    expect((await send(file)).body).to.deep.equal({ entries: 4, added: 0, existing: 4 });
  });

  it("comes in as lines of JSON, with blank lines and the last one not ended", async () => {
    const file = `{"email":"ada@example.com"}\n\n{"email":"bob@example.com","reason":"unsubscribe"}`;
    expect((await send(file, ndjson)).body).to.deep.equal({ entries: 2, added: 2, existing: 0 });
    expect((await listed()).map(({ email, reason }) => `${email} ${reason}`)).to.have.members([
      "ada@example.com manual",
      "bob@example.com unsubscribe",
    ]);
  });

  it("comes in as other services export it", async () => {
    const lines =
      '{"emailAddress":"a@example.com","reason":"BOUNCE"}\n{"emailAddress":"b@example.com","reason":"COMPLAINT"}\n';
    expect((await send(lines, ndjson)).body).to.include({ added: 2 });
    const postmark = `"EmailAddress","SuppressionReason","Origin","CreatedAt"\n"c@example.com","HardBounce","Recipient","2019-12-10T08:58:33-05:00"\n`;
    expect((await send(postmark)).body).to.include({ added: 1 });
    const mailgun = "address,tags\nd@example.com,*\n";
    expect((await send(mailgun, csv, "?reason=unsubscribe")).body).to.include({ added: 1 });
    expect((await listed()).map(({ email, reason, createdAt }) => [email, reason, createdAt])).to.have.deep.members([
      ["a@example.com", "hard-bounce", now],
      ["b@example.com", "complaint", now],
      ["c@example.com", "hard-bounce", "2019-12-10T13:58:33.000Z"],
      ["d@example.com", "unsubscribe", now],
    ]);
  });

  it("is refused as a whole where a line is wrong, with every fault by its line", async () => {
    const file =
      "email,reason,createdAt\nada@example.com,,\nbob@,because,\neve@example.com,,2999-01-01T00:00:00.000Z\nfay@example.com,constructor,\n";
    const refused = await send(file);
    expect([refused.status, refused.body.code]).to.deep.equal([400, "validation-failed"]);
    expect(pointersOf(refused)).to.deep.equal(["/3/email", "/3/reason", "/4/createdAt", "/5/reason"]);
    expect(refused.body.errors[0].message).to.equal(
      'line 3: email is "bob@"; expected an e-mail address such as ada@example.com',
    );
    const lines = await send('{"email":"ada@example.com"}\n[1]\nnonsense\n{"email":7}\n', ndjson);
    expect(pointersOf(lines)).to.deep.equal(["/2", "/3", "/4/email"]);
    expect(await listed()).to.deep.equal([]);
  });

  it("is refused where it is no such file, and nothing of it is stored", async () => {
    expect(pointersOf(await send("name\nada@example.com\n"))).to.deep.equal(["/1"]);
    expect(pointersOf(await send('email\n"ada@example.com\n'))).to.deep.equal(["/2"]);
    expect(
      pointersOf(await send(Buffer.from([...Buffer.from("email\nad"), 0xff, ...Buffer.from("@example.com\n")]))),
    ).to.deep.equal([""]);
    expect(pointersOf(await send(`{"email":"${"x".repeat(70_000)}`, ndjson))).to.deep.equal(["/1"]);
    for (const headers of [{ "Content-Type": "application/json" }, { ...csv, "Content-Encoding": "gzip" }]) {
      expect((await send("email\nada@example.com\n", headers)).status).to.equal(415);
    }
    expect(await listed()).to.deep.equal([]);
  });

  it("is refused where it is too long, and the next request is answered", async () => {
    const many = `email\n${Array.from({ length: 50_001 }, (_, index) => `${index}@example.com\n`).join("")}`;
    const refused = await send(many);
    expect([refused.status, refused.body.code]).to.deep.equal([413, "body-too-large"]);
    const large = await send(`email\n${`"${"x".repeat(60_000)}"\n`.repeat(150)}`);
    expect([large.status, large.body.code]).to.deep.equal([413, "body-too-large"]);
    expect(await listed()).to.deep.equal([]);
    expect((await send("email\nada@example.com\n")).status).to.equal(200);
  });

  it("goes out as a file that brings back the same list", async () => {
    const entries = [
      ["+tag@example.com", "manual"],
      ["=sum@example.com", "hard-bounce"],
      ["o'hara@example.com", "unsubscribe"],
    ] as const;
    for (const [email, reason] of entries) await suppressions.add("default", email, reason, earlier);
    await suppressions.add("default", "erased@example.com", "manual", earlier);
    await suppressions.forgetAddress("default", "erased@example.com");
    await suppressions.add("other", "theirs@example.com", "manual", earlier);
    const before = (await listed()).filter(({ email }) => email !== null);
    for (const [query, headers, type] of [
      ["?format=csv", csv, "text/csv; charset=utf-8; header=present"],
      ["?format=ndjson", ndjson, "application/x-ndjson"],
    ] as const) {
      const response = await fetch(`${api.url}/api/suppressions/export${query}`);
      const { status, headers: answered } = response;
      const text = await response.text();
      expect([status, answered.get("Content-Type")]).to.deep.equal([200, type]);
      expect(text).not.to.match(/theirs|erased/);
      const fresh = createSuppressionList(createMemorySuppressionStore());
      const other = await startApi({ suppressions: fresh });
      const sent = await other.ask("POST", "/api/suppressions/import", { body: text, headers });
      expect(sent.body).to.deep.equal({ entries: 3, added: 3, existing: 0 });
      expect((await fresh.page("default", { after: 0, limit: 10 })).suppressions).to.have.deep.members([...before]);
      await other.close();
    }
  });

  it("goes out as what is accepted where nothing else is asked for, and is read in pages", async () => {
    for (let count = 0; count < 1100; count += 1)
      await suppressions.add("default", `${count}@example.com`, "manual", now);
    const { body, headers } = await exported("", { Accept: "text/csv" });
    expect(headers.get("Content-Disposition")).to.equal('attachment; filename="suppressions.csv"');
    const lines = body.split("\r\n");
    expect([lines.length, lines[0], lines[1]]).to.deep.equal([
      1102,
      "email,reason,createdAt",
      `0@example.com,manual,${now}`,
    ]);
    expect((await exported("?format=xml")).status).to.equal(400);
  });

  it("leaves no address in the log of the process", async () => {
    await send("email\nada@example.com\n");
    await send("email\nbob@\n");
    await exported();
    expect(api.logged.join(""))
      .to.include("/api/suppressions/import")
      .and.not.match(/example\.com|bob@/i);
  });
});
