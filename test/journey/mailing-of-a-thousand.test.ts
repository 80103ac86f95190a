import { expect } from "chai";
import { type ApiClient, createApiClient, type JobAnswer } from "../support/api-client.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

type LogLine = {
  readonly email: string;
  readonly status: string;
  readonly messageId: string | null;
  readonly response: string;
  readonly attempt: number;
};
type HistoryLine = { readonly sequence: number; readonly type: string; readonly jobId: string };

/** Every hundredth mailbox is gone. */
const isGone = (index: number): boolean => index % 100 === 7;
const addressOf = (index: number): string => `recipient-${index}@example.com`;

describe("a mailing to a thousand recipients, some of whom the mail server refuses", () => {
  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let waybill: Waybill;
  let client: ApiClient;
  let jobId: string;
  let job: JobAnswer;

  const recipients = Array.from({ length: 1000 }, (_, index) => addressOf(index));
  const refused = recipients.filter((_, index) => isGone(index));

  before(async function () {
    this.timeout(180_000);
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    for (const address of refused) {
      mailServer.answerRecipient(address, { code: 550, text: `5.1.1 <${address}>: no such mailbox` });
    }
    waybill = await startWaybill({ nats, mysqlUrl: database.url, smtpUrl: mailServer.url });
    client = createApiClient(waybill.url);
    jobId = await client.create({
      subject: "Grüße aus Köln ✓",
      body: "<p>Schöne Grüße — 你好</p>\n.\n<p>nach einem Punkt allein</p>",
      text: "Schöne Grüße\n.\nnach einem Punkt allein",
      from: "Jörg Müller <joerg@example.org>",
      replyTo: "answers@example.org",
      headers: { "X-Campaign": "spring" },
      recipients,
    });
    job = await client.ended(jobId, 150_000);
  });

  after(async () => {
    await waybill.stop();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  it("ends completed, with counters that add up", () => {
    expect(job.status).to.equal("completed");
    expect(job.progress).to.deep.equal({
      total: 1000,
      sent: 990,
      failed: 10,
      pending: 0,
      deferred: 0,
      unknown: 0,
      suppressed: 0,
      bounced: 0,
      complained: 0,
    });
    expect(job.error).to.equal(null);
  });

  it("reaches every other recipient once, in an envelope of its own", () => {
    expect(mailServer.mails.map(({ to }) => to)).to.have.lengthOf(990);
    expect(mailServer.mails.flatMap(({ to }) => to).sort()).to.deep.equal(
      recipients.filter((address) => !refused.includes(address)).sort(),
    );
    expect(new Set(mailServer.mails.map(({ messageId }) => messageId)).size).to.equal(990);
  });

  it("says in the mail what was asked for, in any script", () => {
    const raw = mailServer.mails.find(({ to }) => to.includes(addressOf(3)))?.raw.toString("utf8") ?? "";
    const [head = "", ...parts] = raw.split("\r\n\r\n");
    expect(head).to.match(/^From: =\?UTF-8\?[BQ]\?[^\r\n]+\?= <joerg@example\.org>$/im);
    expect(head).to.match(/^To: recipient-3@example\.com$/m);
    expect(head).to.match(/^Reply-To: answers@example\.org$/m);
    expect(head).to.match(/^X-Campaign: spring$/m);
    expect(decodedSubject(head)).to.equal("Grüße aus Köln ✓");
    const body = parts.join("\r\n\r\n");
    expect(body)
      .to.include("Content-Type: text/plain; charset=utf-8")
      .and.include("Content-Type: text/html; charset=utf-8");
    expect(decodedParts(body)).to.deep.equal([
      "Schöne Grüße\r\n.\r\nnach einem Punkt allein",
      "<p>Schöne Grüße — 你好</p>\r\n.\r\n<p>nach einem Punkt allein</p>",
    ]);
  });

  it("accounts for every recipient in its logs, in the mail server's words without the address", async () => {
    const { status, body } = await client.get(`/api/jobs/${jobId}/logs`);
    const lines = body as LogLine[];
    expect(status).to.equal(200);
    expect(lines.map(({ email }) => email).sort()).to.deep.equal([...recipients].sort());
    const failed = lines.filter((line) => line.status === "failed");
    expect(failed.map(({ email }) => email).sort()).to.deep.equal([...refused].sort());
    for (const { response } of failed)
      expect(response)
        .to.match(/^550 5\.1\.1 /)
        .and.not.match(/recipient-|example/);
    const arrived = new Set(mailServer.mails.map(({ messageId }) => messageId));
    for (const { messageId } of lines.filter((line) => line.status === "success"))
      expect(arrived).to.include(messageId);
  });

  it("has a history that begins with its creation and ends with its end, in the order of the log", async () => {
    const history = (await client.get(`/api/jobs/${jobId}/events`)).body as HistoryLine[];
    expect(history.slice(0, 2).map(({ type }) => type)).to.deep.equal(["JobCreated", "JobStarted"]);
    expect(history.at(-1)?.type).to.equal("JobCompleted");
    expect(history.filter(({ type }) => type === "RecipientSent")).to.have.lengthOf(990);
    expect(history.filter(({ type }) => type === "RecipientFailed")).to.have.lengthOf(10);
    const sequences = history.map(({ sequence }) => sequence);
    expect(sequences).to.deep.equal([...sequences].sort((one, other) => one - other));
  });

  it("tells how many addresses were dropped because they came twice", async () => {
    const answer = await client.post("/api/jobs", {
      subject: "Twice",
      body: "text",
      recipients: ["ada@example.com", "Ada@Example.com", { email: "ada@example.com" }],
    });
    expect(answer.body).to.include({ duplicates: 2 });
  });
});

function decodedSubject(head: string): string {
  const folded = /^Subject: ((?:[^\r\n]|\r\n[ \t])+)/m.exec(head)?.[1] ?? "";
  return folded
    .replace(/\r\n[ \t]/g, "")
    .replace(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi, (_, encoding: string, text: string) =>
      encoding.toUpperCase() === "B" ? Buffer.from(text, "base64").toString() : quoted(text.replaceAll("_", " ")),
    );
}

/** The bodies of the parts of a multipart mail, in their order. */
function decodedParts(body: string): string[] {
  const boundary = /^--([^\r\n]+)$/m.exec(body)?.[1] ?? "";
  return body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const [head = "", ...rest] = part.split("\r\n\r\n");
      const text = rest.join("\r\n\r\n").replace(/\r\n$/, "");
      if (/base64/i.test(head)) return Buffer.from(text, "base64").toString();
      return /quoted-printable/i.test(head) ? quoted(text) : text;
    });
}

const quoted = (text: string): string =>
  Buffer.from(
    text
      .replace(/=\r\n/g, "")
      .replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  ).toString("utf8");
