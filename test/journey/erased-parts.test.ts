import { expect } from "chai";
import { createJetStreamStoredThings } from "../../src/erasure/jetstream-stored-things.ts";
import { connectJetStream } from "../../src/nats/connection.ts";
import { filesWith } from "../erasure/bytes-in.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, type OwnNats, startOwnNats, type TestDatabase } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

const ada = "ada.geheim@private-domain.example";

type Refused = { readonly detail: string; readonly jobsNotEnded: string[]; readonly mailingsNotEnded: string[] };

describe("a person in parts of mailings that are no jobs yet", function () {
  this.timeout(120_000);

  let folder: string;
  let nats: OwnNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let service: Waybill;
  let client: ApiClient;

  before(async () => {
    folder = await temporaryFolder();
    [nats, database, mailServer] = await Promise.all([startOwnNats(folder), freshDatabase(), startMailServer()]);
    service = await startWaybill({ nats, mysqlUrl: database.url, smtpUrl: mailServer.url });
    client = createApiClient(service.url);
  });
  after(async () => {
    await service.stop();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  /** Each address in a part of its own. */
  const draftFor = async (addresses: readonly string[]): Promise<string> => {
    const mailingId = await client.createMailing({ subject: "Hello", body: "Dear all" });
    for (const address of addresses) {
      const headers = { "Content-Type": "application/x-ndjson" };
      const file = { method: "PUT", headers, body: JSON.stringify(address) };
      expect((await fetch(`${service.url}/api/mailings/${mailingId}/recipients`, file)).status).to.equal(200);
    }
    return mailingId;
  };
  /** The sweeper has looked at all that is stored, as it has a day later. */
  const letTimePass = async (): Promise<void> => {
    const connection = await connectJetStream(nats.config, "test", () => {});
    const things = createJetStreamStoredThings(connection, nats.prefix);
    await eventually(async () => {
      for (const thing of await things.unsettled(Date.now() + 1000)) thing.settle();
      const left: string[] = [];
      for await (const { job } of things.unsettledOf("default")) left.push(job.jobId);
      expect(left).to.deep.equal([]);
    });
    await connection.close();
  };
  const erase = () => client.post("/api/recipients/erase", { email: ada.toUpperCase(), reason: "asked for by letter" });
  const erased = async () => {
    await eventually(async () => expect((await erase()).status).to.equal(200), 10_000);
    expect(await filesWith(folder, [ada])).to.deep.equal([]);
  };
  const others = (count: number) => Array.from({ length: count }, (_, index) => `person${index}@example.com`);

  it("is found in a draft, however long ago it was imported, and is erased once the draft is cancelled", async () => {
    const draft = await draftFor([...others(1), ada]);
    await letTimePass();
    const { status, body } = await erase();
    const { detail, jobsNotEnded, mailingsNotEnded } = body as Refused;
    expect([status, jobsNotEnded.length, mailingsNotEnded]).to.deep.equal([409, 1, [draft]]);
    expect(detail).to.match(/^1 jobs .* no jobs yet are cancelled with it\.$/);
    expect((await client.post(`/api/mailings/${draft}/cancel`)).status).to.equal(200);
    await erased();
  });

  it("is found in one that was started for later, behind the parts that are jobs, and in a job once its part is one", async () => {
    const scheduled = await draftFor([...others(22), ada]);
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    await client.post(`/api/mailings/${scheduled}/start`, { scheduledAt });
    await letTimePass();
    await eventually(async () => {
      const { body } = await client.get(`/api/mailings/${scheduled}`);
      expect(body).to.include({ parts: 23, partsMade: 20 });
    });
    const unmade = await erase();
    expect([unmade.status, (unmade.body as Refused).mailingsNotEnded]).to.deep.equal([409, [scheduled]]);
    const { body: listed } = await client.get(`/api/jobs?mailing=${scheduled}&pageSize=3`);
    for (const { id } of (listed as { data: { id: string }[] }).data) {
      expect((await client.delete(`/api/jobs/${id}`)).status).to.equal(200);
    }
    const made = await eventually(async () => {
      const refused = await erase();
      expect(refused.body).not.to.have.property("mailingsNotEnded");
      return refused;
    }, 10_000);
    expect([made.status, (made.body as Refused).jobsNotEnded]).to.deep.equal([
      409,
      (unmade.body as Refused).jobsNotEnded,
    ]);
    expect((await client.post(`/api/mailings/${scheduled}/cancel`)).status).to.equal(200);
    await erased();
    expect(mailServer.mails).to.deep.equal([]);
  });
});
