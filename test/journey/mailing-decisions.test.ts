import { expect } from "chai";
import { openAccess, type TestAccess } from "../support/access.ts";
import { eventually } from "../support/eventually.ts";
import { bearer, type MadeKey, storedKey } from "../support/keys.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { everybody } from "../support/scripted-smtp.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { type Surroundings, spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

type Mailing = {
  readonly status: string;
  readonly progress: Readonly<Record<string, number>>;
  readonly undoUntil: string | null;
  readonly approval: { readonly digest: string; readonly status: string } | null;
  readonly tests: readonly { readonly jobId: string }[];
  readonly completedAt: string | null;
};

/** Of two parts, a thousand in each at most. */
const people = 1100;
const addresses = Array.from({ length: people }, (_, index) => `person${index}@example.com`);
const quickly = { MAX_ATTEMPTS: "1", RETRY_BASE_DELAY: "50", RETRY_JITTER: "0" };

/** Real servers, and processes that are killed while people decide. */
describe("a mailing that people decide about", function () {
  this.timeout(300_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let surroundings: Surroundings;
  let access: TestAccess;
  let [asker, boss]: [MadeKey?, MadeKey?] = [];
  let api: WaybillProcess;
  let others: WaybillProcess;

  const spawnApi = () => spawnWaybill(surroundings, "api", quickly);
  const spawnOthers = () => spawnWaybill(surroundings, "scheduler,projector,worker", quickly);

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    surroundings = { nats, mysqlUrl: database.url, smtpUrl: mailServer.url };
    access = await openAccess(nats);
    asker = await storedKey(access.store, { tenant: "acme" });
    boss = await storedKey(access.store, { tenant: "acme", scopes: ["jobs:read", "jobs:approve"] });
    [api, others] = await Promise.all([spawnApi(), spawnOthers()]);
  });
  after(async () => {
    await Promise.all([api.terminate(), others.terminate()]);
    await access.close();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });
  beforeEach(() => mailServer.forgetMails());

  const ask = async (method: string, path: string, body?: unknown, key = asker) => {
    const isFile = typeof body === "string";
    const response = await fetch(`${api.url}/api/mailings${path}`, {
      method,
      headers: { ...bearer(key?.text ?? ""), "Content-Type": isFile ? "text/csv" : "application/json" },
      ...(body === undefined ? {} : { body: isFile ? body : JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Mailing & { mailingId: string; code?: string } };
  };
  const draft = async (request: object, to = addresses): Promise<string> => {
    const { mailingId } = (await ask("POST", "", { subject: "Hello", body: "Dear all", ...request })).body;
    const { status } = await ask("PUT", `/${mailingId}/recipients`, `email\n${to.join("\n")}\n`);
    expect(status).to.equal(200);
    return mailingId;
  };
  const find = async (id: string): Promise<Mailing> => (await ask("GET", `/${id}`)).body;
  const ended = (id: string): Promise<Mailing> =>
    eventually(async () => {
      const mailing = await find(id);
      if (mailing.completedAt === null) throw new Error(`It goes on: ${JSON.stringify(mailing)}`);
      return mailing;
    }, 120_000);
  /** An API process that dies loses answers; the decision is asked for until one arrives. */
  const insist = (path: string, body: unknown, key?: MadeKey) =>
    eventually(async () => {
      const answer = await ask("POST", path, body, key);
      if (answer.status >= 500) throw new Error(`${answer.status}`);
      return answer;
    }, 60_000);
  const mailed = () => mailServer.mails.flatMap(({ to }) => to).sort();

  for (const seed of [1, 2]) {
    it(`is mailed once to each, though processes are killed while it is started and approved (seed ${seed})`, async () => {
      const id = await draft({ approval: "required" });
      const asking = insist(`/${id}/start`, {});
      await new Promise((resolve) => setTimeout(resolve, seed * 7));
      await api.kill();
      api = await spawnApi();
      const { body } = await asking;
      expect(body.status).to.equal("awaiting-approval");
      expect(mailed()).to.deep.equal([]);
      const approving = insist(`/${id}/approve`, { digest: body.approval?.digest }, boss);
      await new Promise((resolve) => setTimeout(resolve, seed * 11));
      await Promise.all([api.kill(), others.kill()]);
      [api, others] = await Promise.all([spawnApi(), spawnOthers()]);
      expect((await approving).body.approval).to.include({ status: "approved" });
      expect(await ended(id)).to.deep.include({ status: "completed" });
      expect(new Set(mailed())).to.deep.equal(new Set(addresses));
      // A kill of the workers may send those twice whose mails were in flight, as it may for any job.
      expect(mailed().length).to.be.at.most(people + 20);
    });
  }

  it("that is taken back mails nobody, though the one that waits is killed, and mails all once it starts again", async () => {
    const id = await draft({ undoFor: 20 }, addresses.slice(0, 50));
    const started = await ask("POST", `/${id}/start`, {});
    expect(started.body).to.include({ status: "scheduled" });
    await others.kill();
    // A busy machine takes longer to start them than there is time to take it back.
    const spawning = spawnOthers();
    const undone = await ask("POST", `/${id}/undo`, { reason: "the price is wrong" });
    expect([undone.status, undone.body.status]).to.deep.equal([200, "draft"]);
    others = await spawning;
    await eventually(
      () => expect(Date.now()).to.be.greaterThan(Date.parse(started.body.undoUntil ?? "") + 2000),
      40_000,
    );
    expect(mailed()).to.deep.equal([]);
    const more = await ask("PUT", `/${id}/recipients`, "email\neve@example.com\n");
    expect(more.status).to.equal(200);
    await ask("POST", `/${id}/start`, {});
    await others.kill();
    others = await spawnOthers();
    expect(mailed()).to.deep.equal([]);
    expect(await ended(id)).to.deep.include({ status: "completed", undoUntil: null });
    expect(mailed()).to.deep.equal([...addresses.slice(0, 50), "eve@example.com"].sort());
    const late = await ask("POST", `/${id}/undo`);
    expect([late.status, late.body.code]).to.deep.equal([409, "mailing-has-ended"]);
  });

  it("is tested with its letter, which counts for nothing in it", async () => {
    const id = await draft({}, addresses.slice(0, 3));
    const tested = await ask("POST", `/${id}/test`, { to: ["me@example.com"] });
    expect(tested.status).to.equal(201);
    await eventually(() => expect(mailed()).to.deep.equal(["me@example.com"]), 20_000);
    const { progress, tests } = await find(id);
    expect([progress["total"], progress["sent"], tests.length]).to.deep.equal([3, 0, 1]);
    await ask("POST", `/${id}/start`);
    expect((await ended(id)).progress).to.include({ total: 3, sent: 3 });
    expect(mailed()).to.have.lengthOf(4);
  });

  it("that has failed is run again, and ends with what was reached, though a process is killed meanwhile", async () => {
    mailServer.answerRecipient(everybody, { code: 451, text: "4.2.1 later" });
    const id = await draft({ deferFor: 0 });
    await ask("POST", `/${id}/start`);
    expect(await ended(id)).to.include({ status: "failed" });
    expect(mailed()).to.deep.equal([]);
    mailServer.answerRecipient(everybody, null);
    const retried = await ask("POST", `/${id}/retry`, { scope: "failed", reason: "the mail server is back" });
    expect([retried.status, retried.body.completedAt]).to.deep.equal([200, null]);
    await eventually(
      async () => expect(mailServer.mails.length, JSON.stringify(await find(id))).to.be.greaterThan(0),
      30_000,
    );
    await others.kill();
    others = await spawnOthers();
    const { status, progress } = await ended(id);
    expect([status, progress["sent"]]).to.deep.equal(["completed", people]);
    expect(new Set(mailed())).to.deep.equal(new Set(addresses));
    expect(mailed().length).to.be.at.most(people + 20);
  });
});
