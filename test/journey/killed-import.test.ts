import { expect } from "chai";
import { createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { type Surroundings, spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

type Mailing = {
  readonly status: string;
  readonly progress: Readonly<Record<string, number>>;
  readonly parts: number;
  readonly completedAt: string | null;
};

const people = 12_000;
/** Every hundredth line is faulty, every twentieth repeats an earlier address, in another spelling. */
const lines = Array.from({ length: people }, (_, index) => {
  if (index % 100 === 7) return `nobody${index}@`;
  if (index % 20 === 11) return `PERSON${index - 3}@example.com`;
  return `person${index}@example.com`;
});
const valid = lines.filter((line) => line.startsWith("person"));

/** Where the file stops, and until when: so that there is a middle to be killed in, however fast the service is. */
type Stop = { readonly afterLines: number; readonly until: Promise<unknown> };

async function* inPieces(stop: Stop | null): AsyncGenerator<Uint8Array> {
  yield Buffer.from("email\n");
  for (let first = 0; first < lines.length; first += 500) {
    if (first === stop?.afterLines) await stop.until;
    yield Buffer.from(
      lines
        .slice(first, first + 500)
        .map((line) => `${line}\n`)
        .join(""),
    );
  }
}

describe("an import that is killed in the middle, and repeated", function () {
  this.timeout(300_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let surroundings: Surroundings;
  let api: WaybillProcess;
  let others: WaybillProcess;

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    surroundings = { nats, mysqlUrl: database.url, smtpUrl: mailServer.url };
    [api, others] = await Promise.all([
      spawnWaybill(surroundings, "api"),
      spawnWaybill(surroundings, "scheduler,projector,worker"),
    ]);
  });
  after(async () => {
    await Promise.all([api.terminate(), others.terminate()]);
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  const put = (mailingId: string, stop: Stop | null = null) => {
    const init = { method: "PUT", headers: { "Content-Type": "text/csv" }, body: inPieces(stop), duplex: "half" };
    return fetch(`${api.url}/api/mailings/${mailingId}/recipients`, init as unknown as RequestInit);
  };
  const find = async (mailingId: string) =>
    (await createApiClient(api.url).get(`/api/mailings/${mailingId}`)).body as Mailing;

  it("ends with exactly the valid, distinct recipients, and each is mailed once", async () => {
    const mailingId = await createApiClient(api.url).createMailing({ subject: "Hello", body: "Dear all" });
    // Parts are stored eight at a time, of a thousand each. A second kill is in long-import.test.ts.
    let goOn = (): void => {};
    const until = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const importing = put(mailingId, { afterLines: 11_000, until }).then(
      () => "answered",
      () => "broken",
    );
    await eventually(async () => expect((await find(mailingId)).progress["total"]).to.be.greaterThan(2000), 60_000);
    await api.kill();
    goOn();
    expect(await importing).to.equal("broken");
    api = await spawnWaybill(surroundings, "api");
    expect((await find(mailingId)).progress["total"]).to.be.within(2000, valid.length - 1);
    const before = (await find(mailingId)).progress["total"] ?? 0;
    const whole = await put(mailingId);
    const counts = (await whole.json()) as Record<string, number>;
    expect(whole.status, JSON.stringify(counts)).to.equal(200);
    expect(counts["faulty"]).to.equal(people / 100);
    expect(counts["added"]).to.equal(valid.length - before);
    expect(counts["duplicates"]).to.equal(people - people / 100 - valid.length + before);
    expect(counts["lines"]).to.equal(people);
    expect((await find(mailingId)).progress["total"]).to.equal(valid.length);

    await createApiClient(api.url).post(`/api/mailings/${mailingId}/start`);
    await eventually(async () => expect(mailServer.mails.length).to.be.greaterThan(1000), 60_000);
    // The process that makes the parts, and the one that mails them: at most what was in flight comes twice.
    await others.kill();
    others = await spawnWaybill(surroundings, "scheduler,projector,worker");
    const mailing = await eventually(async () => {
      const found = await find(mailingId);
      if (found.completedAt === null) throw new Error(`It goes on: ${JSON.stringify(found)}`);
      return found;
    }, 180_000);
    expect(mailing.status).to.equal("completed");
    expect(mailing.progress).to.include({ total: valid.length, sent: valid.length });
    const mailed = mailServer.mails.flatMap(({ to }) => to);
    expect([...new Set(mailed)].sort()).to.deep.equal([...valid].sort());
    expect(mailed.length - valid.length, "mailed twice").to.be.at.most(20);
  });
});
