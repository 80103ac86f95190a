import { expect } from "chai";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

type Stored = { readonly type: string; readonly data: { readonly route?: string; readonly recipient?: number } };
type RouteAnswer = { readonly name: string; readonly state: string; readonly counts: { readonly sent: number } };

const people = (count: number): string[] => Array.from({ length: count }, (_, index) => `person${index}@example.com`);
const letter = (count: number) => ({ subject: "News", body: "text", recipients: people(count) });

describe("mails that leave by several routes", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let database: TestDatabase;
  let usual: TestMailServer;
  let second: TestMailServer;
  let third: TestMailServer;
  let waybill: Waybill;
  let client: ApiClient;

  before(async () => {
    [nats, database, usual, second, third] = await Promise.all([
      startNats(),
      freshDatabase(),
      startMailServer(),
      startMailServer(),
      startMailServer(),
    ]);
    waybill = await startWaybill({ nats, mysqlUrl: database.url, smtpUrl: usual.url });
    client = createApiClient(waybill.url);
  });
  after(async () => {
    await waybill.stop();
    await Promise.all([usual, second, third].map((server) => server.stop()));
    await database.drop();
    await nats.cleanUp();
  });
  beforeEach(async () => {
    for (const server of [usual, second, third]) {
      await server.start();
      server.forgetMails();
      server.slowDown(0);
    }
  });
  afterEach(async () => {
    for (const name of ["second", "third"]) await client.delete(`/api/admin/routes/${name}`);
  });

  const put = async (name: string, server: TestMailServer, more: object = {}): Promise<void> => {
    expect((await client.put(`/api/admin/routes/${name}`, { url: server.url, ...more })).status).to.equal(201);
    await eventually(async () => expect((await read(name)).state).to.equal("usable"));
  };
  const read = async (name: string) => (await client.get(`/api/admin/routes/${name}`)).body as RouteAnswer;
  const ended = async (mailing: object) => client.ended(await client.create(mailing), 60_000);
  const eventsOf = async (jobId: string, type: string) =>
    ((await client.get(`/api/jobs/${jobId}/events`)).body as readonly Stored[]).filter((event) => event.type === type);
  const counts = (): readonly number[] => [usual, second, third].map(({ mails }) => mails.length);

  it("take the one of the lowest order that may carry them, and tell which it was", async () => {
    await put("second", second);
    const job = await ended(letter(3));
    expect(counts()).to.deep.equal([0, 3, 0]);
    const sent = await eventsOf(job.id, "RecipientSent");
    expect(sent.map(({ data }) => data.route)).to.deep.equal(["second", "second", "second"]);
    expect((await read("second")).counts.sent).to.equal(3);
  });

  it("take the one that the job names", async () => {
    await put("second", second);
    const job = await ended({ ...letter(2), route: "default" });
    expect(counts()).to.deep.equal([2, 0, 0]);
    expect((await eventsOf(job.id, "JobCreated"))[0]?.data.route).to.equal("default");
    expect((await eventsOf(job.id, "RecipientSent")).map(({ data }) => "route" in data)).to.deep.equal([false, false]);
  });

  it("are refused where the job names one that is not there, or may not carry them", async () => {
    await put("second", second, { senders: ["other.example"] });
    for (const route of ["nowhere", "second"]) {
      const { status, body } = await client.post("/api/jobs", { ...letter(1), route });
      expect(status).to.equal(400);
      expect(body).to.deep.include({ code: "validation-failed" });
      expect((body as { errors: readonly object[] }).errors).to.deep.equal([
        {
          pointer: "/route",
          message: `route is "${route}"; expected a mail route for this tenant and this sender: default`,
        },
      ]);
    }
  });

  it("follow a change while the service runs", async () => {
    await put("second", second);
    await ended(letter(1));
    expect((await client.patch("/api/admin/routes/second", { tenants: ["shop"] })).status).to.equal(200);
    await ended(letter(1));
    expect(
      (await client.patch("/api/admin/routes/second", { tenants: null, senders: ["EXAMPLE.org"] })).status,
    ).to.equal(200);
    await ended(letter(1));
    expect(counts()).to.deep.equal([1, 2, 0]);
  });

  it("are divided by weight among routes of the same order", async () => {
    await put("second", second, { weight: 3 });
    await put("third", third, { weight: 1 });
    await ended(letter(40));
    expect(counts()).to.deep.equal([0, 30, 10]);
  });

  it("take the next route while one is away, each once, and the first again when it is back", async () => {
    await put("second", second);
    second.slowDown(5);
    const jobId = await client.create({ ...letter(200), onUnknown: "skip" });
    await eventually(() => expect(second.mails.length).to.be.greaterThan(20));
    await second.stop();
    const job = await client.ended(jobId, 60_000);
    expect(job).to.deep.include({ status: "completed", attempt: 1 });
    // Those in flight when the server went down: no other route has them.
    expect(job.progress.unknown).to.be.at.most(10);
    expect(job.progress.sent + job.progress.unknown).to.equal(200);
    const mailed = [...usual.mails, ...second.mails].flatMap(({ to }) => to);
    expect(new Set(mailed).size).to.equal(mailed.length);
    expect(usual.mails.length).to.be.greaterThan(50);
    await second.start();
    await eventually(async () => expect((await read("second")).state).to.equal("usable"), 60_000);
    usual.forgetMails();
    // The first mail tries it, alone.
    await ended(letter(1));
    await ended(letter(3));
    expect(usual.mails.length).to.equal(0);
  });

  it("are tried by no other route where it is unknown whether the first has taken them", async () => {
    await put("second", second);
    second.takeInSilence("person1@example.com");
    const job = await ended({ ...letter(3), onUnknown: "skip" });
    second.answerMessage("person1@example.com", null);
    expect(job.progress).to.include({ sent: 2, unknown: 1 });
    expect(usual.mails).to.deep.equal([]);
  });

  it("wait for the route that their job needs, use up no attempt, and hold up no other job", async () => {
    await put("second", second);
    await second.stop();
    await ended(letter(12));
    const waiting = await client.create({ ...letter(2), route: "second" });
    expect((await ended(letter(5))).status).to.equal("completed");
    expect(await eventsOf(waiting, "JobStarted")).to.deep.equal([]);
    await second.start();
    const job = await client.ended(waiting, 60_000);
    expect(job).to.deep.include({ status: "completed", attempt: 1 });
    expect(second.mails.length).to.equal(2);
  });
});
