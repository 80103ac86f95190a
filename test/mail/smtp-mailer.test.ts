import { expect } from "chai";
import { asksForPatience } from "../../src/domain/throttles/asks-for-patience.ts";
import { type Mailer, MailWithdrawn } from "../../src/mail/mailer.ts";
import { createSmtpMailer } from "../../src/mail/smtp-mailer.ts";
import { failureOf } from "../support/failure-of.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { mailTo } from "./letters.ts";

describe("handing a mail to a mail server", () => {
  let server: TestMailServer;
  let mailer: Mailer;

  beforeEach(async () => {
    server = await startMailServer();
    mailer = createSmtpMailer({ url: server.url, maxConnections: 2, timeoutMs: 1500, answerTimeoutMs: 1500 });
  });

  afterEach(async () => {
    await mailer.close();
    await server.stop();
  });

  it("is sent once the server took responsibility", async () => {
    const outcome = await mailer.send(mailTo("ada@example.com"));
    expect(outcome.kind).to.equal("sent");
    expect(server.mails.map(({ to }) => to)).to.deep.equal([["ada@example.com"]]);
  });

  it("has failed when the server refuses the recipient for good", async () => {
    server.answerRecipient("gone@example.com", { code: 550, text: "5.1.1 no such user" });
    const outcome = await mailer.send(mailTo("gone@example.com"));
    expect(outcome).to.deep.include({ kind: "failed" });
    expect(outcome).to.have.deep.property("error", {
      code: "rejected",
      message: "550 5.1.1 no such user",
      replyCode: 550,
      statusCode: "5.1.1",
    });
  });

  it("has failed when the server refuses the message for good", async () => {
    server.answerMessage("strict@example.com", { code: 554, text: "5.7.1 policy" });
    expect(await mailer.send(mailTo("strict@example.com"))).to.include({ kind: "failed" });
  });

  it("is deferred when the server says later, to the recipient or to the message", async () => {
    server.answerRecipient("full@example.com", { code: 452, text: "4.2.2 mailbox full" });
    server.answerMessage("grey@example.com", { code: 451, text: "4.7.1 greylisted" });
    expect(await mailer.send(mailTo("full@example.com"))).to.include({ kind: "deferred" });
    expect(await mailer.send(mailTo("grey@example.com"))).to.include({ kind: "deferred" });
  });

  it("is deferred when the server answers it with 454, as Amazon SES does to slow its clients down", async () => {
    server.answerMessage("fast@example.com", { code: 454, text: "Throttling failure: Maximum sending rate exceeded." });
    const outcome = await mailer.send(mailTo("fast@example.com"));
    expect(outcome).to.have.nested.include({ kind: "deferred", "error.replyCode": 454 });
    expect(outcome.kind === "deferred" && asksForPatience(outcome.error)).to.equal(true);
  });

  it("is deferred when the account has used up its quota, which Google and Microsoft 365 say with 5xx", async () => {
    for (const [address, code, text] of [
      ["google@example.com", 550, "5.4.5 Daily user sending limit exceeded."],
      [
        "relay@example.com",
        550,
        "5.7.1 Daily SMTP relay limit exceeded for customer. For more information on SMTP relay",
      ],
      ["external@example.com", 550, "5.7.233 Your tenant exceeded its daily limit for external recipients."],
      ["limit@example.com", 550, "5.1.90 You have reached your daily limit for message recipients."],
      [
        "microsoft@example.com",
        554,
        "5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException.MapiException",
      ],
    ] as const) {
      server.answerMessage(address, { code, text });
      const outcome = await mailer.send(mailTo(address));
      expect(outcome).to.have.nested.include({ kind: "deferred", "error.replyCode": code });
      expect(outcome.kind === "deferred" && asksForPatience(outcome.error)).to.equal(true);
    }
    for (const text of ["5.2.2 Mailbox full: quota exceeded", "5.7.1 Message size limit exceeded", "5.7.23 SPF"]) {
      server.answerMessage("full@example.com", { code: 554, text });
      expect(await mailer.send(mailTo("full@example.com")), text).to.include({ kind: "failed" });
    }
  });

  it("is unknown when the connection breaks after the message and before the answer", async () => {
    server.takeInSilence("silent@example.com");
    const outcome = await mailer.send(mailTo("silent@example.com"));
    expect(outcome).to.have.nested.property("error.code", "outcome-unknown");
    expect(outcome.kind).to.equal("unknown");
  });

  it("is unknown when no answer comes to the message in time", async () => {
    server.hold();
    expect((await mailer.send(mailTo("slow@example.com"))).kind).to.equal("unknown");
    server.release();
  });

  it("finds the server unavailable when it refuses connections, or every mail", async () => {
    server.greetWith({ code: 421, text: "4.3.2 closing" });
    expect(await mailer.send(mailTo("ada@example.com"))).to.have.nested.property("error.code", "smtp-unavailable");
    await server.stop();
    expect((await mailer.send(mailTo("ada@example.com"))).kind).to.equal("unavailable");
    expect(server.mails).to.deep.equal([]);
  });

  it("has failed where it cannot be composed, which says nothing against the server", async () => {
    const outcome = await mailer.send(mailTo("ada@example.com", { isUnsubscribable: true }));
    expect(outcome).to.deep.nested.include({ kind: "failed", "error.code": "unsendable" });
    expect(server.connections).to.equal(0);
  });

  it("goes on with a new connection when the server closed the one that was idle", async () => {
    await mailer.send(mailTo("ada@example.com"));
    server.disconnect();
    expect((await mailer.send(mailTo("bob@example.com"))).kind).to.equal("sent");
    expect(server.mails).to.have.lengthOf(2);
  });

  it("asks once there is a connection whether the mail may still be sent, and says nothing of one that may not", async () => {
    const connectionsWhenAsked: number[] = [];
    const withdrawn = mailTo("ada@example.com");
    const mayStill = async (): Promise<boolean> => {
      connectionsWhenAsked.push(server.connections);
      return false;
    };
    expect(await failureOf(mailer.send({ ...withdrawn, mayStill }))).to.be.instanceOf(MailWithdrawn);
    const away = new Error("The log is away");
    const unknown = await failureOf(mailer.send({ ...withdrawn, mayStill: () => Promise.reject(away) }));
    expect(unknown).to.be.instanceOf(MailWithdrawn).and.to.have.property("cause", away);
    expect((await mailer.send(mailTo("bob@example.com"))).kind).to.equal("sent");
    expect(server.mails.map(({ to }) => to)).to.deep.equal([["bob@example.com"]]);
    expect({ connectionsWhenAsked, all: server.connections }).to.deep.equal({ connectionsWhenAsked: [1], all: 1 });
  });

  it("reads no second address out of the recipient", async () => {
    await mailer.send(mailTo("ada@example.com", { subject: "x", headers: { "X-Campaign": "spring" } }));
    const [received] = server.mails;
    expect(received?.to).to.deep.equal(["ada@example.com"]);
    expect(received?.raw.toString()).to.match(/^To: ada@example\.com\r$/m);
  });
});
