import { expect } from "chai";
import { createTransport, type Transporter } from "nodemailer";
import { type Mailbox, startMailbox } from "../../src/standalone/mailbox.ts";

describe("the mailbox", () => {
  let mailbox: Mailbox;
  let transport: Transporter;

  const send = (subject: string) =>
    transport.sendMail({ from: "shop@example.com", to: "ada@example.com", subject, text: "Hello." });

  beforeEach(async () => {
    mailbox = await startMailbox();
    const { hostname, port } = new URL(mailbox.smtpUrl);
    transport = createTransport({ host: hostname, port: Number(port), pool: true, maxConnections: 5 });
  });
  afterEach(async () => {
    transport.close();
    await mailbox.stop();
  });

  it("catches a mail with its envelope, its subject in any script, and its bytes", async () => {
    const subject = "Grüße aus Łódź, 🚀 und noch so viele Wörter, dass sie auf keine einzelne Zeile mehr passen";
    await transport.sendMail({
      envelope: { from: "bounces@example.com", to: ["ada@example.com", "bob@example.com"] },
      from: "shop@example.com",
      to: "everybody@example.com",
      subject,
      text: "Hello.",
    });
    const [mail] = mailbox.list();
    expect(mail).to.deep.include({ from: "bounces@example.com", to: ["ada@example.com", "bob@example.com"], subject });
    expect(mail?.raw.toString()).to.match(/^From: shop@example\.com\r\n.*\r\n\r\nHello\.\r\n$/s);
    expect(mail?.receivedAt.getTime()).to.be.closeTo(Date.now(), 60_000);
    expect(mailbox.find(mail?.id ?? "")).to.equal(mail);
  });

  it("shows the newest first and forgets the oldest of more than a thousand", async () => {
    for (let first = 1; first <= 1002; first += 167) {
      await Promise.all(Array.from({ length: 167 }, (_, index) => send(`Mail ${first + index}`)));
    }
    const { length, 0: newest } = mailbox.list();
    expect(length).to.equal(1000);
    expect(newest?.id).to.equal("1002");
    expect(mailbox.find("2")).to.equal(null);
    expect(mailbox.find("3")).to.be.an("object");
  });

  it("has no mail that it never caught", () => {
    expect(mailbox.list()).to.deep.equal([]);
    expect(mailbox.find("1")).to.equal(null);
  });
});
