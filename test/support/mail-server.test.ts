import { expect } from "chai";
import { createTransport, type Transporter } from "nodemailer";
import { eventually } from "./eventually.ts";
import { startMailServer, type TestMailServer } from "./mail-server.ts";
import { everybody } from "./scripted-smtp.ts";

describe("a mail server that does what a test tells it", () => {
  let server: TestMailServer;
  let transport: Transporter;

  /** The reply, or the code of nodemailer's error with the reply code. */
  const send = (to: string): Promise<string> =>
    transport
      .sendMail({ from: "shop@example.com", to, messageId: `<to-${to}>`, subject: "Hello", text: "Hello." })
      .then(
        ({ response }) => String(response),
        (error: { code: string; responseCode?: number }) => `${error.code} ${error.responseCode ?? "unanswered"}`,
      );
  const namesOf = (mails: readonly { messageId: string | null }[]) => mails.map(({ messageId }) => messageId);

  beforeEach(async () => {
    server = await startMailServer();
    transport = createTransport({ host: "127.0.0.1", port: server.port, pool: true, maxConnections: 3 });
  });
  afterEach(async () => {
    transport.close();
    await server.stop();
  });

  it("remembers every mail that it took, and no other", async () => {
    server.answerRecipient("nobody@example.com", { code: 550, text: "5.1.1 no such user" });
    server.answerMessage("later@example.com", { code: 451, text: "4.7.1 later" });
    server.takeInSilence("silent@example.com");
    expect(await send("ada@example.com")).to.equal("250 2.0.0 accepted");
    expect(await send("nobody@example.com")).to.equal("EENVELOPE 550");
    expect(await send("later@example.com")).to.equal("EMESSAGE 451");
    expect(await send("silent@example.com")).to.equal("ECONNECTION unanswered");
    expect(namesOf(server.mails)).to.deep.equal(["<to-ada@example.com>", "<to-silent@example.com>"]);
    expect(server.mails[0]).to.deep.include({ from: "shop@example.com", to: ["ada@example.com"] });
    expect(server.mails[0]?.raw.toString()).to.match(/\r\n\r\nHello\.\r\n$/);
  });

  it("holds mails until they are released", async () => {
    server.hold();
    const sending = Promise.all([send("ada@example.com"), send("bob@example.com")]);
    await eventually(() => expect(server.held).to.have.length(2));
    expect(server.mails).to.deep.equal([]);
    server.release();
    expect(await sending).to.deep.equal(["250 2.0.0 accepted", "250 2.0.0 accepted"]);
    expect([server.mails.length, server.held.length]).to.deep.equal([2, 0]);
  });

  it("forgets what it held when it goes down, and comes back on the same port", async () => {
    server.hold();
    const sending = send("ada@example.com");
    await eventually(() => expect(server.held).to.have.length(1));
    await server.stop();
    expect(await sending).to.match(/unanswered/);
    expect(await send("bob@example.com")).to.equal("ESOCKET unanswered");
    server.release();
    await server.start();
    expect(await send("bob@example.com")).to.equal("250 2.0.0 accepted");
    expect(namesOf(server.mails)).to.deep.equal(["<to-bob@example.com>"]);
  });

  it("refuses every connection, until it is reset", async () => {
    server.greetWith({ code: 421, text: "4.3.2 not now" });
    expect(await send("ada@example.com")).to.equal("EPROTOCOL 421");
    server.greetWith(null);
    expect(await send("ada@example.com")).to.equal("250 2.0.0 accepted");
  });

  it("hangs up as a mail begins to arrive, until it does not", async () => {
    server.breakOff(true);
    expect(await send("ada@example.com")).to.equal("ECONNECTION unanswered");
    server.breakOff(false);
    expect(await send("bob@example.com")).to.equal("250 2.0.0 accepted");
    expect(namesOf(server.mails)).to.deep.equal(["<to-bob@example.com>"]);
  });

  it("answers all recipients alike, except those with an answer of their own", async () => {
    server.answerRecipient("nobody@example.com", { code: 550, text: "5.1.1 no such user" });
    server.answerRecipient(everybody, { code: 451, text: "4.7.1 later" });
    expect(await send("ada@example.com")).to.equal("EENVELOPE 451");
    expect(await send("nobody@example.com")).to.equal("EENVELOPE 550");
    server.answerRecipient(everybody, null);
    server.takeInSilence(everybody);
    expect(await send("ada@example.com")).to.equal("ECONNECTION unanswered");
    expect(namesOf(server.mails)).to.deep.equal(["<to-ada@example.com>"]);
  });

  it("takes as long as it is told, over as many connections as there are", async () => {
    server.slowDown(50);
    const begin = Date.now();
    await Promise.all(Array.from({ length: 6 }, (_, index) => send(`${index}@example.com`)));
    expect(Date.now() - begin).to.be.at.least(95);
    expect(server.mostConnections).to.equal(3);
  });
});
