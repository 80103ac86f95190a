import { expect } from "chai";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { openPage } from "../support/browser.ts";
import { bounceOf, complaintAbout, sendBack } from "../support/came-back.ts";
import { eventually } from "../support/eventually.ts";
import { findFreePort } from "../support/free-port.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

type Message = { readonly type: string; readonly jobId: string; readonly email: string; readonly bounce?: string };

const [lost, annoyed, slow, well] = ["ada@example.com", "bob@example.com", "cid@slow.example", "dan@example.com"];
const complaintsTo = "fbl@example.org";

describe("a mailing of which one mail is slow, one comes back and one is complained of", function () {
  this.timeout(180_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let waybill: Waybill;
  let receiver: Receiver;
  let client: ApiClient;
  let port: number;

  before(async () => {
    [nats, database, mailServer, receiver] = await Promise.all([
      startNats(),
      freshDatabase(),
      startMailServer(),
      startReceiver(),
    ]);
    port = await findFreePort();
    waybill = await startWaybill(
      { nats, mysqlUrl: database.url, smtpUrl: mailServer.url },
      {
        MAIL_RETURN_PATH: "bounces@b.example.org",
        FEEDBACK_ADDRESSES: `fbl@elsewhere.example,${complaintsTo}`,
        BOUNCES_PORT: String(port),
        BOUNCES_LMTP: "true",
        WEBHOOK_ALLOW: "127.0.0.0/8",
        RETRY_DELAYS: "500",
      },
    );
    client = createApiClient(waybill.url);
  });
  after(async () => {
    await waybill.stop();
    await Promise.all([mailServer.stop(), receiver.stop()]);
    await database.drop();
    await nats.cleanUp();
  });

  const mailsTo = (address: string) => mailServer.mails.filter(({ to }) => to.includes(address));
  const messages = (): readonly Message[] =>
    receiver.received.flatMap(({ text }) => (JSON.parse(text) as { data: readonly Message[] }).data);

  it("is told of everywhere, and neither address is mailed again", async () => {
    const types = ["sent", "deferred", "bounced", "complained", "suppressed"].map((type) => `recipient.${type}`);
    await client.post("/api/webhook-endpoints", { url: receiver.url, types });
    mailServer.limitDomain("slow.example", { perSecond: 0, answer: { code: 450, text: "4.7.0 slow down" } });
    const letter = { subject: "The whole circle", body: "Hello", recipients: [lost, annoyed, slow, well] };
    const jobId = await client.create(letter);
    await eventually(() => expect(mailServer.mails).to.have.lengthOf(3), 30_000);
    mailServer.limitDomain("slow.example", null);
    expect((await client.ended(jobId)).progress).to.include({ sent: 4, bounced: 0, complained: 0 });

    const [[bounced], [complained]] = [mailsTo(lost), mailsTo(annoyed)];
    if (bounced === undefined || complained === undefined) throw new Error("A mail has not arrived.");
    expect(complained.raw.toString()).to.match(/^CFBL-Address: fbl@example\.org; report=arf\r$/im);
    // Twice, as from a sender that had no answer.
    for (let times = 0; times < 2; times += 1) {
      expect(await sendBack(port, bounced.from, bounceOf(bounced.from), true)).to.match(/^250/);
      const complaint = complaintAbout(complained.messageId ?? "", complaintsTo);
      expect(await sendBack(port, complaintsTo, complaint, true)).to.match(/^250/);
    }
    expect(await sendBack(port, "fbl@example.net", bounceOf("x"), true)).to.match(/^550/);

    await eventually(async () => {
      const { body } = await client.get(`/api/jobs/${jobId}`);
      expect((body as { progress: object }).progress).to.include({ sent: 4, bounced: 1, complained: 1 });
    });
    for (const [address, reason] of [
      [lost, "hard-bounce"],
      [annoyed, "complaint"],
    ] as const) {
      await eventually(async () => {
        const { body } = await client.get(`/api/suppressions?email=${address}`);
        expect((body as { data: { reason: string }[] }).data[0]?.reason).to.equal(reason);
      });
    }
    const again = await client.ended(await client.create({ ...letter, subject: "Once more" }));
    expect(again.progress).to.include({ sent: 2, suppressed: 2 });
    expect([lost, annoyed, well].map((address) => mailsTo(address).length)).to.deep.equal([1, 1, 2]);

    await eventually(() => {
      const told = messages().filter((message) => message.jobId === jobId);
      const of = (email: string) => told.filter((message) => message.email === email).map(({ type }) => type);
      expect(of(lost)).to.deep.equal(["recipient.sent", "recipient.bounced"]);
      expect(of(annoyed)).to.deep.equal(["recipient.sent", "recipient.complained"]);
      expect(of(well)).to.deep.equal(["recipient.sent"]);
      const later = messages().filter(({ type }) => type === "recipient.suppressed");
      expect(later.map(({ email }) => email).sort()).to.deep.equal([lost, annoyed]);
    });

    const ledger = (await client.get(`/api/recipients?email=${lost}`)).body as {
      data: readonly { jobId: string; history: readonly { status: string }[] }[];
    };
    const history = ledger.data.find((entry) => entry.jobId === jobId)?.history;
    expect(history?.map(({ status }) => status)).to.deep.equal(["sent", "bounced"]);
    const evidence = await (await fetch(`${waybill.url}/api/jobs/${jobId}/evidence`)).text();
    expect(evidence).to.include("RecipientBounced").and.include("RecipientComplained");

    const { page, sins, findBarriers, close } = await openPage(`${waybill.url}/#/jobs/${jobId}`);
    await page.locator('[data-count="came back"]').getByText("1", { exact: true }).waitFor();
    await page.locator('[data-count="complained"]').getByText("1", { exact: true }).waitFor();
    const row = (address: string) => page.getByRole("row", { name: address });
    await row(lost).getByText("bounced", { exact: true }).waitFor();
    await row(annoyed).getByText("complained", { exact: true }).waitFor();
    expect(await row(well).getByText("bounced", { exact: true }).count()).to.equal(0);
    await row(lost).getByRole("button").first().click();
    await page.getByText("User unknown").first().waitFor();
    expect(await findBarriers()).to.deep.equal([]);
    await close();
    expect(sins).to.deep.equal([]);
  });
});
