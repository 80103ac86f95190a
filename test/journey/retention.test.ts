import { expect } from "chai";
import { digestOf, encodeContent } from "../../src/content/encode-content.ts";
import { createJetStreamContentStore } from "../../src/content/jetstream-content-store.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import * as example from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { openJetStreamLog } from "../support/jetstream-log.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

const dayMs = 86_400_000;
const subject = "An offer of last week";

describe("a service that keeps what it sent for a day", () => {
  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let service: Waybill | null = null;
  let client: ApiClient;
  let old: JobRef;
  let recent: string;

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    old = await writeOldMailing();
    await start({});
    recent = await client.create({ subject: "News of today", body: "Here.", recipients: ["ada@example.com"] });
    await client.ended(recent);
    await eventually(async () => expect(await listed()).to.have.members([old.jobId, recent]));
    await service?.stop();
  });
  after(async () => {
    await service?.stop();
    await mailServer?.stop();
    await database?.drop();
    await nats?.cleanUp();
  });

  /** A mailing that was sent three days ago, as it would stand in the log. */
  async function writeOldMailing(): Promise<JobRef> {
    const { log, connection, close } = await openJetStreamLog(nats.config, nats.prefix);
    const content = encodeContent({
      name: null,
      metadata: {},
      subject,
      html: null,
      text: "It ends tomorrow.",
      from: null,
      replyTo: null,
      headers: {},
      recipients: [{ email: "bob@example.com" }],
    });
    const job = newJob();
    await (await createJetStreamContentStore(connection, nats.prefix)).put(job, content);
    const at = new Date(Date.now() - 3 * dayMs).toISOString();
    await happen(log, job, [
      example.jobCreated({ total: 1, contentSha256: digestOf(content) }, at),
      example.jobStarted({}, at),
      example.recipientsClaimed({ recipients: [0] }, at),
      example.recipientSent({ recipient: 0 }, at),
      example.jobCompleted({ counts: example.counts({ total: 1, sent: 1 }) }, at),
    ]);
    await close();
    return job;
  }

  async function start(env: Readonly<Record<string, string>>): Promise<void> {
    service = await startWaybill({ nats, mysqlUrl: database.url, smtpUrl: mailServer.url }, env);
    client = createApiClient(service.url);
  }
  const listed = async (): Promise<readonly string[]> =>
    ((await client.get("/api/jobs")).body as { data: readonly { id: string }[] }).data.map(({ id }) => id);

  it("forgets what it sent before that, and goes on telling that it was sent", async () => {
    await start({ RETENTION_DAYS: "1" });
    await eventually(async () => expect(await listed()).to.deep.equal([recent]), 30_000);
    const { status, body } = await client.get(`/api/jobs/${old.jobId}`);
    expect(status).to.equal(200);
    expect(body).to.deep.include({ id: old.jobId, status: "completed", subject: null });
    expect((body as { progress: object }).progress).to.include({ total: 1, sent: 1 });
    const events = (await client.get(`/api/jobs/${old.jobId}/events`)).body as readonly Record<string, unknown>[];
    expect(events.at(-1)).to.deep.include({ type: "JobContentErased", actor: "retention" });
    for (const path of [`/api/jobs?q=offer`, "/api/recipients?email=bob@example.com"]) {
      expect(JSON.stringify((await client.get(path)).body), path)
        .not.to.include(subject)
        .and.not.to.include(old.jobId);
    }
  });

  it("keeps what it sent since", async () => {
    const { body } = await client.get(`/api/jobs/${recent}`);
    expect(body).to.deep.include({ subject: "News of today", status: "completed" });
    const { body: logs } = await client.get(`/api/jobs/${recent}/logs`);
    expect(JSON.stringify(logs)).to.include("ada@example.com");
  });
});
