import { expect } from "chai";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { type Surroundings, spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

type Shown = {
  readonly total: number;
  readonly data: readonly {
    readonly route: string;
    readonly receiver: string;
    readonly pausedUntil: string | null;
    readonly reason: { message: string };
  }[];
};

type Explained = { readonly reasons: readonly { readonly code: string; readonly message: string }[] };
type Stats = { readonly throttles: { readonly total: number; readonly slowest: readonly { receiver: string }[] } };

describe("a receiver that asks for patience, and two workers of which one is killed", function () {
  this.timeout(180_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let service: WaybillProcess;
  let workers: WaybillProcess[];
  let client: ApiClient;
  let startWorker: () => Promise<WaybillProcess>;

  const at = (domain: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `person${index}@${domain}`);
  const mailed = (domain: string): string[] =>
    mailServer.mails.flatMap(({ to }) => to).filter((address) => address.endsWith(`@${domain}`));
  const throttles = async (): Promise<Shown> => (await client.get("/api/admin/throttles")).body as Shown;

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    const surroundings: Surroundings = { nats, mysqlUrl: database.url, smtpUrl: mailServer.url };
    startWorker = () => spawnWaybill(surroundings, "worker", { SMTP_MAX_CONNECTIONS: "5" });
    service = await spawnWaybill(surroundings, "api,scheduler,projector");
    workers = await Promise.all([startWorker(), startWorker()]);
    client = createApiClient(service.url);
  });

  after(async () => {
    await Promise.all([service, ...workers].map((one) => one.terminate()));
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  it("reaches everyone once, without an attempt more, and the others at once", async () => {
    const answer = { code: 450, text: "4.7.0 too many mails from you" };
    mailServer.limitDomain("slow.example", { perSecond: 0, answer });
    const recipients = [...at("slow.example", 60), ...at("fast.example", 300)];
    const jobId = await client.create({
      subject: "Patience",
      body: "text",
      recipients,
      onUnknown: "skip",
      maxAttempts: 1,
    });
    await eventually(() => expect(mailed("fast.example")).to.have.lengthOf(300), 30_000);
    expect(mailed("slow.example")).to.deep.equal([]);
    await eventually(async () => {
      const { total, data } = await throttles();
      expect(total).to.equal(1);
      expect(data[0]).to.deep.include({ route: "default", receiver: "slow.example" });
      expect(data[0]?.reason.message).to.equal("450 4.7.0 too many mails from you");
    });

    await eventually(async () => {
      const { reasons } = (await client.get(`/api/jobs/${jobId}/explain`)).body as Explained;
      expect(reasons.find(({ code }) => code === "receiver-slowed")?.message).to.match(
        /^The receiver slow\.example has asked for patience \(450 4\.7\.0\) and gets no mail until /,
      );
    });
    const ofTenant = ((await client.get("/api/stats")).body as Stats).throttles;
    expect(ofTenant, "what a tenant is told").to.deep.equal({ total: 1, slowest: [] });
    const ofAll = ((await client.get("/api/admin/jobs/stats")).body as Stats).throttles;
    expect(ofAll.slowest.map(({ receiver }) => receiver)).to.deep.equal(["slow.example"]);

    // Nothing is on its way at the kill: a mail in flight would stay unknown.
    await eventually(async () => {
      const { data } = await throttles();
      expect(Date.parse(data[0]?.pausedUntil ?? "")).to.be.above(Date.now() + 1000);
    });
    await Promise.all(workers.map((worker) => worker.kill()));
    workers = await Promise.all([startWorker(), startWorker()]);
    expect((await throttles()).total, "receivers that are known after the restart").to.equal(1);
    mailServer.limitDomain("slow.example", null);

    const job = await client.ended(jobId, 150_000);
    expect(job.status).to.equal("completed");
    expect(job.progress).to.include({ total: 360, sent: 360, failed: 0, unknown: 0 });
    expect(mailServer.mails.flatMap(({ to }) => to).sort()).to.deep.equal([...recipients].sort());
  });
});
