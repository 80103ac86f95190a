import { expect } from "chai";
import { type BrokenMailer, withBreaker } from "../../src/mail/breaker.ts";
import type { Mail } from "../../src/mail/mailer.ts";
import { createSmtpMailer } from "../../src/mail/smtp-mailer.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const mail: Mail = {
  messageId: "<one@example.org>",
  from: "waybill@example.org",
  replyTo: null,
  to: "ada@example.com",
  subject: "Hello",
  html: null,
  text: "Hello",
  headers: {},
};

describe("a mail server that is down for everybody", () => {
  let server: TestMailServer;
  let mailer: BrokenMailer;
  const changes: string[] = [];

  beforeEach(async () => {
    server = await startMailServer();
    const bare = createSmtpMailer({ url: server.url, maxConnections: 2, timeoutMs: 1500 });
    mailer = withBreaker(bare, { threshold: 2, firstWaitMs: 50, longestWaitMs: 200 });
    changes.length = 0;
    mailer.onChange((state) => changes.push(state));
  });

  afterEach(async () => {
    await mailer.close();
    await server.stop();
  });

  const breakIt = async (): Promise<void> => {
    await server.stop();
    await mailer.send(mail);
    await mailer.send(mail);
    expect(mailer.state()).not.to.equal("closed");
  };

  it("is not asked any more after some mails found it so", async () => {
    await breakIt();
    const outcome = await mailer.send(mail);
    expect(outcome).to.deep.include({ kind: "unavailable" });
    expect(outcome).to.have.nested.property("error.code", "smtp-unavailable");
  });

  it("is looked at until it is back, without a mail at stake", async () => {
    await breakIt();
    await server.start();
    await eventually(() => expect(mailer.state()).to.equal("closed"));
    expect(server.mails).to.deep.equal([]);
    expect((await mailer.send(mail)).kind).to.equal("sent");
  });

  it("is asked on where it refuses single mails only", async () => {
    server.answerRecipient(mail.to, { code: 550, text: "5.1.1 no such user" });
    for (let mails = 0; mails < 5; mails += 1) expect((await mailer.send(mail)).kind).to.equal("failed");
    expect(changes).to.deep.equal([]);
  });

  it("does not tell its address to those whose mails it does not take", async () => {
    await breakIt();
    expect(JSON.stringify(await mailer.send(mail))).not.to.match(/127\.0\.0\.1|localhost/);
  });
});

describe("jobs that come in while the mail server is down", () => {
  let writeSide: WriteSide;
  let server: TestMailServer;

  before(async () => {
    [writeSide, server] = await Promise.all([startWriteSide(), startMailServer()]);
    writeSide.startScheduler();
    writeSide.startWorker(server.url, { concurrency: 1 });
  });

  after(async () => {
    await writeSide.cleanUp();
    await server.stop();
  });

  it("wait in the queue without losing an attempt, and are mailed afterwards", async () => {
    await server.stop();
    const jobs = await Promise.all(
      Array.from({ length: 30 }, (_, index) => writeSide.createJob([`person${index}@example.com`])),
    );
    const statuses = async () => Promise.all(jobs.map(async (job) => (await writeSide.readView(job)).status));
    const count = async (status: string) => (await statuses()).filter((found) => found === status).length;
    await eventually(async () => expect(await count("retrying")).to.be.at.least(5));
    await eventually(async () => expect((await count("queued")) + (await count("retrying"))).to.equal(30));
    const put = await count("retrying");
    expect(put, "jobs that found out that it is down").to.be.at.most(9);
    await server.start();
    await eventually(async () => expect(await count("completed")).to.equal(30 - put));
    expect(await count("queued")).to.equal(0);
  });
});
