import { expect } from "chai";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

type Letter = Readonly<Record<string, unknown>> & { readonly id: string };

describe("a mailing that gave up", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let waybill: Waybill;
  let client: ApiClient;

  const people = Array.from({ length: 20 }, (_, index) => `person${index}@example.com`);
  const [reachable, refused] = [people.slice(0, 8), people.slice(8)];

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    waybill = await startWaybill({ nats, mysqlUrl: database.url, smtpUrl: mailServer.url });
    client = createApiClient(waybill.url);
  });

  after(async () => {
    await waybill.stop();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  const refuse = (answer: { readonly code: number; readonly text: string } | null): void => {
    for (const to of refused) mailServer.answerRecipient(to, answer);
  };
  const letters = async (jobId: string, minSequence: string): Promise<readonly Letter[]> => {
    const { body } = await client.get("/api/dead-letters", { "Min-Sequence": minSequence });
    return (body as { data: readonly Letter[] }).data.filter((letter) => letter["jobId"] === jobId);
  };
  const failedMailing = async (): Promise<{ jobId: string; letter: Letter }> => {
    refuse({ code: 550, text: "5.7.1 we do not know you" });
    const jobId = await client.create({ subject: "Your invoice", body: "Hello", recipients: people });
    expect((await client.ended(jobId)).status).to.equal("failed");
    const { body } = await client.get(`/api/jobs/${jobId}/events`);
    const [letter] = await letters(jobId, String((body as { sequence: number }[]).at(-1)?.sequence));
    if (letter === undefined) throw new Error("There is no dead letter.");
    return { jobId, letter };
  };

  it("is run again as a new job for the recipients not sent, and every recipient is mailed once", async () => {
    const { jobId, letter } = await failedMailing();
    expect(letter).to.deep.include({
      id: `${jobId}.1`,
      status: "open",
      subject: "Your invoice",
      progress: { total: 20, sent: 8, failed: 12, pending: 0, deferred: 0, unknown: 0, suppressed: 0 },
    });
    expect(mailServer.mails.flatMap(({ to }) => to).sort()).to.deep.equal([...reachable].sort());

    refuse(null);
    const path = `/api/dead-letters/${letter.id}/requeue`;
    const requeued = await eventually(async () => {
      const answer = await client.post(path, { reason: "they know us now" });
      expect(answer.status).to.equal(201);
      return answer;
    });
    const { jobId: newId } = requeued.body as { jobId: string };
    const job = await client.ended(newId);
    expect(job).to.include({ status: "completed", requeueOf: jobId });
    expect(job.progress).to.include({ total: 12, sent: 12 });
    await eventually(async () => expect((await client.post(path)).body).to.deep.equal(requeued.body));
    expect(mailServer.mails.flatMap(({ to }) => to).sort()).to.deep.equal([...people].sort());

    const [closed] = await letters(jobId, requeued.headers.get("Event-Sequence") ?? "");
    expect(closed).to.include({ status: "requeued", requeuedAs: newId, reason: "they know us now" });
    await eventually(async () => expect((await client.post(`/api/jobs/${jobId}/retry`)).status).to.equal(409));
  });

  it("is set aside with a reason, and nothing more is mailed", async () => {
    const { jobId, letter } = await failedMailing();
    const mailed = mailServer.mails.length;
    const ignored = await eventually(async () => {
      const answer = await client.post(`/api/dead-letters/${letter.id}/ignore`, { reason: "the sale is over" });
      expect([answer.status, (answer.body as Letter)["status"]]).to.deep.equal([200, "ignored"]);
      return answer;
    });
    const [closed] = await letters(jobId, ignored.headers.get("Event-Sequence") ?? "");
    expect(closed).to.deep.equal(ignored.body);
    expect(mailServer.mails).to.have.length(mailed);
  });
});
