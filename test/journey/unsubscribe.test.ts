import { expect } from "chai";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { readMail, textIn } from "../support/read-mail.ts";
import { isSignedBy, type Receiver, startReceiver } from "../support/receiver.ts";
import { startNats, startOwnMysql, type TestDatabase, type TestMysql, type TestNats } from "../support/services.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

/** What a proxy before the service makes of its own address. */
const publicUrl = "https://mail.example.com/waybill";
const mailing = {
  subject: "News",
  body: '<p>Hello</p><p><a href="{{ unsubscribeUrl }}">No more of this</a></p>',
  recipients: ["ada@example.com", "bob@example.com", "eve@example.com"],
  unsubscribe: true,
};

describe("a recipient who wants no more mail", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let mysql: TestMysql;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let waybill: Waybill;
  let client: ApiClient;
  let receiver: Receiver;

  before(async () => {
    [nats, mysql, mailServer] = await Promise.all([startNats(), startOwnMysql(), startMailServer()]);
    database = await mysql.freshDatabase();
    const surroundings = { nats, mysqlUrl: database.url, smtpUrl: mailServer.url };
    receiver = await startReceiver();
    waybill = await startWaybill(surroundings, { PUBLIC_URL: publicUrl, WEBHOOK_ALLOW: "127.0.0.0/8" });
    client = createApiClient(waybill.url);
  });
  after(async () => {
    await waybill.stop();
    await mailServer.stop();
    await receiver.stop();
    await mysql.cleanUp();
    await nats.cleanUp();
  });

  const mailTo = (address: string) => {
    const mail = mailServer.mails.findLast(({ to }) => to.includes(address));
    if (mail === undefined) throw new Error(`${address} has no mail`);
    return mail.raw.toString("latin1");
  };
  const linkIn = (mail: string): string => /^List-Unsubscribe: <(\S+)>\r$/m.exec(mail)?.[1] ?? "no link";

  it("says so with one click in one mail, and gets no other, all without MySQL", async () => {
    await mysql.stop();
    const types = ["recipient.sent", "recipient.suppressed", "recipient.unsubscribed"];
    const asked = await client.post("/api/webhook-endpoints", { url: receiver.url, types });
    expect(asked.status).to.equal(201);
    expect((await client.post("/api/suppressions", { email: "EVE@example.com" })).status).to.equal(201);
    const first = await client.ended(await client.create(mailing));
    expect(first.status).to.equal("completed");
    expect(first.progress).to.include({ total: 3, sent: 2, suppressed: 1, failed: 0 });

    const mail = mailTo("ada@example.com");
    const link = linkIn(mail);
    expect(link).to.match(/^https:\/\/mail\.example\.com\/waybill\/unsubscribe\/default\.[\w.-]+$/);
    expect(link).not.to.equal(linkIn(mailTo("bob@example.com")));
    expect(mail).to.match(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    expect(textIn(readMail(Buffer.from(mail, "latin1")), "text/html")).to.include(link);

    const answer = await fetch(waybill.url + link.slice(publicUrl.length), {
      method: "POST",
      redirect: "error",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: "List-Unsubscribe=One-Click",
    });
    expect([answer.status, answer.headers.get("Set-Cookie")]).to.deep.equal([200, null]);
    await eventually(() => {
      const told = receiver.received.flatMap(({ text }) => JSON.parse(text).data as { type: string; email: string }[]);
      expect(told.map(({ type, email }) => [type, email])).to.have.deep.members([
        ["recipient.suppressed", "eve@example.com"],
        ["recipient.sent", "ada@example.com"],
        ["recipient.sent", "bob@example.com"],
        ["recipient.unsubscribed", "ada@example.com"],
      ]);
    });
    for (const one of receiver.received) {
      expect(isSignedBy((asked.body as { secret: string }).secret, one)).to.equal(true);
    }

    mailServer.forgetMails();
    const second = await client.ended(await client.create(mailing));
    expect(second.progress).to.include({ total: 3, sent: 1, suppressed: 2 });
    expect(mailServer.mails.flatMap(({ to }) => to)).to.deep.equal(["bob@example.com"]);
    const list = (await client.get("/api/suppressions")).body as { data: { email: string; reason: string }[] };
    expect(list.data.map(({ email, reason }) => [email, reason])).to.deep.equal([
      ["EVE@example.com", "manual"],
      ["ada@example.com", "unsubscribe"],
    ]);
  });

  it("is shown as such by every read model once MySQL is back, and counted by the metrics", async () => {
    await mysql.start();
    const jobId = await client.create(mailing);
    await client.ended(jobId);
    const logs = await eventually(async () => {
      const { status, body } = await client.get(`/api/jobs/${jobId}/logs?status=suppressed`);
      expect(status).to.equal(200);
      expect(body).to.have.lengthOf(2);
      return body as readonly { email: string; status: string; error: { code: string } }[];
    }, 30_000);
    expect(logs.map(({ email, status, error }) => [email, status, error.code])).to.have.deep.members([
      ["ada@example.com", "suppressed", "unsubscribe"],
      ["eve@example.com", "suppressed", "manual"],
    ]);
    const listed = await eventually(async () => {
      const { body } = await client.get("/api/jobs?status=completed");
      const { data } = body as { data: { id: string; progress: object }[] };
      expect(data).to.have.lengthOf(3);
      return data;
    }, 30_000);
    expect(listed.find(({ id }) => id === jobId)?.progress).to.include({ total: 3, sent: 1, suppressed: 2 });
    const events = JSON.stringify((await client.get(`/api/jobs/${jobId}/events`)).body);
    expect(events)
      .to.include("RecipientSuppressed")
      .and.not.match(/ada@|eve@|example\.com"/i);
    const metrics = await (await fetch(`${waybill.url}/metrics`)).text();
    expect(metrics).to.match(/^waybill_messages_total\{outcome="suppressed",reason="unsubscribe"\} 2$/m);
    expect(metrics).not.to.include("example.com");
  });
});
