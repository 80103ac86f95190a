import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { Knex } from "knex";
import { encodeContent } from "../../src/content/encode-content.ts";
import { createJetStreamContentStore } from "../../src/content/jetstream-content-store.ts";
import { createDatabase } from "../../src/database/database.ts";
import { eraseLeftover } from "../../src/erasure/erase-leftovers.ts";
import { createJetStreamEventLog } from "../../src/event-log/jetstream-event-log.ts";
import { jobIdOfOutboxRow } from "../../src/intake/derived-job-id.ts";
import { connectJetStream } from "../../src/nats/connection.ts";
import { filesWith } from "../erasure/bytes-in.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { emptyOutbox } from "../support/empty-outbox.ts";
import { emptySuppressions } from "../support/empty-suppressions.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";
import { readOutboxRow } from "../support/outbox-side.ts";
import { freshDatabase, type OwnNats, startOwnNats, type TestDatabase } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";
import { exampleContent } from "../support/write-side.ts";

const ada = "ada.geheim@private-domain.example";
const almostAda = `n${ada}`;
/** As some languages write JSON: no letter of it as it is. */
const escaped = [...ada].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

describe("copies of what was erased", function () {
  this.timeout(120_000);

  let folder: string;
  let nats: OwnNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let waybill: Waybill;
  let client: ApiClient;
  let db: Knex;

  before(async () => {
    folder = await temporaryFolder();
    [nats, database, mailServer] = await Promise.all([startOwnNats(folder), freshDatabase(), startMailServer()]);
    waybill = await startWaybill({ nats, mysqlUrl: database.url, smtpUrl: mailServer.url });
    client = createApiClient(waybill.url);
    db = createDatabase(database.url);
  });
  after(async () => {
    await db.destroy();
    await waybill.stop();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  const erase = async (email = ada) =>
    await client.post("/api/recipients/erase", { email, reason: "asked for by letter" });
  /** As an application writes it, letter by letter. */
  const insert = async (request: string, row: { tenant?: string } = {}): Promise<string> => {
    const id = randomUUID();
    await db("outbox").insert({ id, request, ...row });
    return id;
  };
  const becomes = (id: string, status: "processed" | "failed") =>
    eventually(async () => expect((await readOutboxRow(db, id)).status).to.equal(status));
  const mailingTo = (...recipients: readonly string[]) =>
    JSON.stringify({ subject: "Invoice", body: "It is attached.", recipients });
  const rowsWith = async (text: string): Promise<readonly string[]> => {
    const rows: { id: string; texts: string }[] = await db("outbox").select(
      "id",
      db.raw("CONCAT(CAST(request AS CHAR), COALESCE(CAST(response AS CHAR), '')) AS texts"),
    );
    return rows.filter(({ texts }) => texts.includes(text)).map(({ id }) => id);
  };
  const makeReport = async (format: "csv" | "ndjson", from?: string): Promise<string> => {
    const jobId = await client.create({ type: "report.export", payload: { of: "logs", format, from } });
    expect(await client.ended(jobId)).to.include({ status: "completed" });
    return jobId;
  };
  const resultOf = async (jobId: string): Promise<number> =>
    (await fetch(`${waybill.url}/api/jobs/${jobId}/result`)).status;

  it("in rows of the outbox are erased with the address, whatever became of the row, and no others are", async () => {
    const processed = await insert(mailingTo(ada.toUpperCase(), "bob@elsewhere.example"));
    const written = await insert(mailingTo("x").replace('"x"', `"${escaped}"`));
    const failed = await insert(mailingTo(`${ada} and nobody`));
    const others = await insert(mailingTo(almostAda));
    for (const id of [processed, written, others]) await becomes(id, "processed");
    await becomes(failed, "failed");
    for (const id of [processed, written, others]) await client.ended(jobIdOfOutboxRow("default", id));
    expect((await readOutboxRow(db, failed)).response.detail).to.include(ada);
    const first = await erase();
    expect([first.status, first.body]).to.deep.equal([
      200,
      // The request of a job goes with what is erased of the job; that of none is looked for.
      {
        jobsErased: 2,
        reportsErased: 0,
        outboxRowsErased: 1,
        leftoversErased: 0,
        schedulesChanged: 0,
        isSuppressed: false,
      },
    ]);
    expect(await rowsWith(ada.toUpperCase())).to.deep.equal([]);
    expect(await rowsWith(escaped)).to.deep.equal([]);
    expect(await rowsWith(ada)).to.deep.equal([others]);
    const { status, response } = await readOutboxRow(db, failed);
    expect({ status, code: response.code }).to.deep.equal({ status: "failed", code: "validation-failed" });
    const { status: stillDone, response: kept } = await readOutboxRow(db, processed);
    expect([stillDone, kept.jobId]).to.deep.equal(["processed", jobIdOfOutboxRow("default", processed)]);
    expect((await erase()).body).to.include({ jobsErased: 0, outboxRowsErased: 0 });
  });

  it("in rows whose job knows nothing of it any more are found all the same, however JSON was written", async () => {
    const texts = [mailingTo(ada), mailingTo("x").replace('"x"', `"${escaped}"`)];
    const ids = await Promise.all(texts.map((text) => insert(text)));
    for (const id of ids) {
      await becomes(id, "processed");
      await client.ended(jobIdOfOutboxRow("default", id));
    }
    await erase();
    // As they were left by releases that erased nothing here.
    for (const [index, id] of ids.entries()) await db("outbox").where({ id }).update({ request: texts[index] });
    expect((await erase()).body).to.include({ jobsErased: 0, outboxRowsErased: 2 });
    for (const text of [`"${ada}"`, escaped]) expect(await rowsWith(text)).to.deep.equal([]);
  });

  it("in a row that is still to become a job keep the erasure from being whole", async () => {
    const later = new Date(Date.now() + 3_600_000);
    const id = randomUUID();
    await db("outbox").insert({ id, request: mailingTo(ada), next_retry_at: later });
    const refused = await erase();
    expect(refused.status).to.equal(409);
    expect(refused.body).to.deep.include({ jobsNotEnded: [jobIdOfOutboxRow("default", id)] });
    expect(await rowsWith(ada)).to.include(id);
    await db("outbox").where({ id }).delete();
    expect((await erase()).status).to.equal(200);
  });

  it("in the outbox row of a job go with all that the job has sent", async () => {
    const id = await insert(mailingTo("carol@elsewhere.example"));
    await becomes(id, "processed");
    const job = jobIdOfOutboxRow("default", id);
    await client.ended(job);
    expect(await rowsWith("carol@elsewhere.example")).to.deep.equal([id]);
    await eventually(async () => expect((await client.delete(`/api/jobs/${job}/content`)).status).to.equal(200));
    expect(await rowsWith("carol@elsewhere.example")).to.deep.equal([]);
  });

  it("in files of reports go as whole files, and files without the address stay", async () => {
    const mailed = await client.create({ subject: "Hi", body: "Hi", recipients: [ada, almostAda] });
    await client.ended(mailed);
    const reports = [await makeReport("ndjson"), await makeReport("csv")];
    const later = new Date().toISOString();
    await client.ended(await client.create({ subject: "Hi", body: "Hi", recipients: [almostAda] }));
    const other = await makeReport("csv", later);
    expect((await filesWith(folder, [ada])).join("\n")).to.include("_RESULTS");
    for (const report of [...reports, other]) expect(await resultOf(report)).to.equal(200);
    expect((await erase()).body).to.include({ jobsErased: 1, reportsErased: 2 });
    for (const report of reports) expect(await resultOf(report)).to.equal(410);
    expect(await resultOf(other)).to.equal(200);
    expect((await erase()).body).to.include({ jobsErased: 0, reportsErased: 0 });
  });

  it("are in no byte that NATS has stored, once no other address ends like it", async () => {
    expect((await erase(almostAda)).status).to.equal(200);
    expect(await filesWith(folder, [ada, ada.toUpperCase(), escaped])).to.deep.equal([]);
    expect(await rowsWith(ada)).to.deep.equal([]);
  });

  it("in what a request stored that never made its job keep the erasure from being whole, until they are swept", async () => {
    const { prefix } = nats;
    const connection = await connectJetStream(nats.config, "test", () => {});
    const [log, contentStore] = [
      await createJetStreamEventLog(connection, prefix),
      await createJetStreamContentStore(connection, prefix),
    ];
    const job = { tenant: "default", jobId: randomUUID() };
    await contentStore.put(job, encodeContent({ ...exampleContent, recipients: [{ email: ada }] }));
    const refused = await erase();
    expect(refused.status).to.equal(409);
    expect(refused.body).to.deep.include({ jobsNotEnded: [job.jobId] });
    const ports = {
      log,
      contentStore,
      results: createMemoryResultStore(),
      outbox: emptyOutbox,
      suppressions: emptySuppressions,
    };
    const cause = { actor: "sweeper", correlationId: null, causationId: null, traceparent: null };
    const at = new Date().toISOString();
    await eraseLeftover(ports, { job, attachment: null }, { reason: "No job was made of it.", cause, at });
    await connection.close();
    expect((await erase()).status).to.equal(200);
    expect((await client.get(`/api/jobs/${job.jobId}`)).status).to.equal(404);
    const history = (await client.get(`/api/jobs/${job.jobId}/events`)).body as { readonly type: string }[];
    expect(history.map(({ type }) => type)).to.deep.equal(["JobContentErased"]);
    expect(await client.ended(await client.create(JSON.parse(mailingTo("dan@elsewhere.example"))))).to.include({
      status: "completed",
    });
  });
});
