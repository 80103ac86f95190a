import { expect } from "chai";
import type { Knex } from "knex";
import { createDatabase } from "../../src/database/database.ts";
import { trustNothing } from "../../src/seals/check.ts";
import { verifyEvidence } from "../../src/seals/verify-evidence.ts";
import { filesWith } from "../erasure/bytes-in.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, type OwnNats, startOwnNats, type TestDatabase } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

/** Of a person, and of a mailing: nothing of it may be left. */
const erased = {
  address: "erika.geheim@private-domain.example",
  variable: "Vornamensgeheimnis",
  subject: "Betreffgeheimnis Quartal",
  body: "Koerpergeheimnis im Text",
  name: "Namensgeheimnis",
  metadata: "Kundengeheimnis",
  attached: "Anlagengeheimnis",
  second: "zweiter.geheim@private-domain.example",
  third: "dritte.geheim@private-domain.example",
};
/** Stands on the list of suppressions as its own entry, and in a job that is erased. */
const byHand = "bleibt.liste@elsewhere.example";
const other = "bleibt@elsewhere.example";
const nothingElse = { reportsErased: 0, outboxRowsErased: 0, leftoversErased: 0, schedulesChanged: 0 };

describe("what was erased", function () {
  this.timeout(120_000);

  let folder: string;
  let nats: OwnNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let waybill: Waybill;
  let client: ApiClient;
  let db: Knex;
  let whole: string;
  let shared: string;

  const secrets = Object.values(erased);
  const attachment = Buffer.from(`${erased.attached} `.repeat(9000));

  before(async () => {
    folder = await temporaryFolder();
    [nats, database, mailServer] = await Promise.all([startOwnNats(folder), freshDatabase(), startMailServer()]);
    const publicUrl = { PUBLIC_URL: "https://mail.example.com" };
    waybill = await startWaybill({ nats, mysqlUrl: database.url, smtpUrl: mailServer.url }, publicUrl);
    db = createDatabase(database.url);
    mailServer.answerRecipient(erased.second, { code: 550, text: `5.1.1 <${erased.second}> is unknown` });
    client = createApiClient(waybill.url);
    whole = await client.create({
      subject: erased.subject,
      body: `<p>${erased.body} {{ name }}</p>`,
      name: erased.name,
      unsubscribe: true,
      metadata: { customer: erased.metadata },
      recipients: [
        { email: erased.address, variables: { name: erased.variable } },
        { email: erased.second, variables: { name: "B" } },
        { email: erased.third, variables: { name: "C" } },
        { email: byHand, variables: { name: "D" } },
      ],
      attachments: [{ filename: "a.txt", contentType: "text/plain", content: attachment.toString("base64") }],
    });
    shared = await client.create({
      subject: "To both",
      body: "Hello {{ name }}",
      recipients: [
        { email: other, variables: { name: "C" } },
        { email: erased.address, variables: { name: erased.variable } },
      ],
    });
    await client.ended(whole);
    await client.ended(shared);
    await unsubscribe(erased.third);
    await client.post("/api/suppressions", { email: byHand });
  });
  after(async () => {
    await db.destroy();
    await waybill.stop();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  /** With the one click that the mail to this address offers. */
  const unsubscribe = async (email: string): Promise<void> => {
    const mail = mailServer.mails.find(({ to }) => to[0] === email)?.raw.toString() ?? "";
    const link = new URL(/^List-Unsubscribe: <(\S+)>\r$/m.exec(mail)?.[1] ?? "");
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const body = "List-Unsubscribe=One-Click";
    const answer = await fetch(waybill.url + link.pathname, { method: "POST", headers, body });
    expect(answer.status).to.equal(200);
  };
  const get = async (path: string) => (await client.get(path)).body;
  const inRows = async (): Promise<readonly string[]> => {
    const [tables] = (await db.raw("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'")) as [Record<string, string>[]];
    const found: string[] = [];
    for (const table of tables.map((row) => Object.values(row)[0] ?? "")) {
      const text = JSON.stringify(await db(table));
      for (const secret of secrets) if (text.includes(secret)) found.push(`${table}: ${secret}`);
    }
    return found;
  };

  it("was there before, on the disk of NATS and in MySQL", async () => {
    const onDisk = await filesWith(folder, secrets);
    for (const secret of secrets) expect(onDisk.join("\n")).to.include(secret);
    await eventually(async () => {
      const rows = (await inRows()).join("\n");
      for (const secret of [erased.address, erased.second, erased.third, erased.subject, erased.body])
        expect(rows).to.include(secret);
    });
  });

  it("is not erased for a reason that contains an address, as reasons are kept", async () => {
    const byJob = await client.delete(`/api/jobs/${whole}/content`, { reason: `${erased.address} asked` });
    const byAddress = await client.post("/api/recipients/erase", { email: erased.address, reason: "a b@c" });
    expect([byJob.status, byAddress.status]).to.deep.equal([400, 400]);
    const { errors } = byAddress.body as { errors: { pointer: string }[] };
    expect(errors.map(({ pointer }) => pointer)).to.deep.equal(["/reason"]);
  });

  it("shows in no answer about the job, and its history stays", async () => {
    const first = await client.delete(`/api/jobs/${whole}/content`, { reason: "contract ended" });
    expect(first.status).to.equal(200);
    const nothing = { subject: null, name: null, metadata: {} };
    expect(first.body).to.deep.include({ ...nothing, status: "completed" });
    const again = await client.delete(`/api/jobs/${whole}/content`);
    expect([again.status, again.body]).to.deep.equal([200, first.body]);
    expect(await get(`/api/jobs/${whole}`)).to.deep.equal(first.body);
    expect(await get(`/api/jobs/${whole}?asOf=1`)).to.deep.include(nothing);
    const logs = (await get(`/api/jobs/${whole}/logs`)) as { email: string | null }[];
    expect(logs.map(({ email }) => email)).to.deep.equal([null, null, null, null]);
    const events = (await get(`/api/jobs/${whole}/events`)) as { type: string; actor: string; data: unknown }[];
    const erasures = events.filter(({ type }) => type === "JobContentErased");
    expect(erasures).to.have.lengthOf(1);
    const data = { recipients: null, contentSha256: null, isRetired: false, reason: "contract ended" };
    expect(erasures[0]).to.deep.include({ actor: "anonymous", data });
  });

  it("is one person everywhere, and leaves the others", async () => {
    await client.post("/api/suppressions", { email: erased.address });
    const request = { email: erased.address.toUpperCase(), reason: "asked for by letter" };
    const first = await client.post("/api/recipients/erase", request);
    expect([first.status, first.body]).to.deep.equal([200, { jobsErased: 1, ...nothingElse, isSuppressed: true }]);
    const again = await client.post("/api/recipients/erase", request);
    expect([again.status, again.body]).to.deep.equal([200, { jobsErased: 0, ...nothingElse, isSuppressed: true }]);
    const { data } = (await get(`/api/jobs/${shared}/recipients`)) as { data: { email: string; status: string }[] };
    expect(data.map(({ email, status }) => [email, status])).to.deep.equal([
      [other, "sent"],
      [null, "sent"],
    ]);
    const ofAddress = await get(`/api/recipients?email=${encodeURIComponent(erased.address)}`);
    expect(ofAddress).to.deep.include({ data: [] });
    const mailedAgain = await client.create({ subject: "Hi", body: "Hi", recipients: [erased.address] });
    expect((await client.ended(mailedAgain)).progress).to.include({ suppressed: 1, sent: 0 });
    await client.post("/api/recipients/erase", request);
  });

  it("is still known as not to be mailed, where a mail server had refused it or its reader unsubscribed, by no address", async () => {
    const { data } = (await get("/api/suppressions")) as { data: { email: string | null; reason: string }[] };
    expect(data.map(({ email, reason }) => [email, reason])).to.have.deep.members([
      [byHand, "manual"],
      [null, "hard-bounce"],
      [null, "unsubscribe"],
      [null, "manual"],
    ]);
    for (const email of [erased.second, erased.third]) {
      const jobId = await client.create({ subject: "Again", body: "Hi", recipients: [email] });
      expect((await client.ended(jobId)).progress).to.include({ suppressed: 1, sent: 0 });
      expect((await client.delete(`/api/jobs/${jobId}/content`)).status).to.equal(200);
    }
  });

  it("is in no row of MySQL and in no byte that NATS has stored", async () => {
    expect(await inRows()).to.deep.equal([]);
    expect(await filesWith(folder, secrets)).to.deep.equal([]);
    expect(await filesWith(folder, [other]), "what was not to be erased").not.to.deep.equal([]);
  });

  it("is proven to be erased by the evidence, which is whole", async () => {
    for (const jobId of [whole, shared]) {
      const bundle = await (await fetch(`${waybill.url}/api/jobs/${jobId}/evidence`)).text();
      const { checks } = verifyEvidence(Buffer.from(bundle), trustNothing);
      expect(checks.filter(({ ok }) => !ok)).to.deep.equal([]);
      expect(checks.map(({ detail }) => detail).join("\n")).to.match(/erased at \S+ by anonymous \(event \d+\)/);
      for (const secret of secrets) expect(bundle).not.to.include(secret);
    }
  });
});
