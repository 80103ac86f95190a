import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { createChunkTrust } from "../../src/mail/chunk-trust.ts";
import type { Mailer } from "../../src/mail/mailer.ts";
import { createSmtpMailer } from "../../src/mail/smtp-mailer.ts";
import { eventually } from "../support/eventually.ts";
import { mailTo } from "./letters.ts";
import { expectSent, startWireServer, type WireServer } from "./wire-server.ts";

const ada = mailTo("ada@example.com");
const bob = mailTo("bob@example.com");

describe("a mail that goes in one write, to a server that takes chunks", () => {
  let server: WireServer;
  let mailer: Mailer;

  beforeEach(async () => {
    server = await startWireServer();
    server.always("EHLO", "250-wire\r\n250-PIPELINING\r\n250-SMTPUTF8\r\n250 CHUNKING");
    mailer = createSmtpMailer({ url: server.url, maxConnections: 1, timeoutMs: 1500, answerTimeoutMs: 1500 });
    expect(await mailer.send(bob)).to.include({ kind: "sent" });
    Object.assign(server.heard, { reads: 0 });
    server.heard.commands.length = 0;
    server.heard.messages.length = 0;
  });

  afterEach(async () => {
    await mailer.close();
    await server.stop();
  });

  const isInChunks = (): boolean => server.heard.commands.some((command) => command.startsWith("BDAT"));
  const expectSentOn = (connection: number, mail = ada) => expectSent(mailer, mail, server, connection);
  const expectUnknown = async (): Promise<void> => {
    expect(await mailer.send(ada)).to.have.nested.property("error.code", "outcome-unknown");
    expect(server.connections()).to.equal(1);
  };
  /** What follows is as certain as it can be. */
  const expectNoMoreChunks = async (): Promise<void> => {
    server.heard.commands.length = 0;
    for (const mail of [bob, ada, bob]) await expectSentOn(2, mail);
    expect(isInChunks()).to.equal(false);
  };

  it("is the same message as behind DATA", async () => {
    await expectSentOn(1);
    const [chunk = Buffer.alloc(0)] = server.heard.messages;
    expect(server.heard.reads).to.equal(1);
    expect(server.heard.commands).to.deep.equal([
      "MAIL FROM:<waybill@example.org>",
      "RCPT TO:<ada@example.com>",
      `BDAT ${chunk.length} LAST`,
    ]);
    server.always("EHLO", null);
    await mailer.close();
    mailer = createSmtpMailer({ url: server.url, maxConnections: 1, timeoutMs: 1500, answerTimeoutMs: 1500 });
    await expectSentOn(2);
    const [, behindData = Buffer.alloc(0)] = server.heard.messages;
    const withoutDate = (message: Buffer): string => message.toString().replace(/^Date: .*\r\n/m, "");
    // Without the final dot the server keeps no line end.
    expect(withoutDate(chunk)).to.equal(`${withoutDate(behindData)}\r\n`);
  });

  it("is answered in pieces, and in replies of several lines", async () => {
    server.sayByteByByte();
    server.next("MAIL", "250-2.1.0 go\r\n250 2.1.0 on");
    server.next("BDAT", "250-2.0.0 taken\r\n250 2.0.0 really");
    expect(await mailer.send(ada)).to.deep.equal({ kind: "sent", response: "250-2.0.0 taken\n250 2.0.0 really" });
    await expectSentOn(1, bob);
  });

  it("goes behind DATA where a line begins with a dot, and where it is large", async () => {
    await expectSentOn(1, mailTo("ada@example.com", { text: "One\r\n.\r\nTwo" }));
    expect(server.heard.messages.toString()).to.include("\r\n..\r\n");
    await expectSentOn(1, mailTo("ada@example.com", { text: "A line of a large text.\r\n".repeat(3000) }));
    expect(isInChunks()).to.equal(false);
    await expectSentOn(1);
    expect(isInChunks()).to.equal(true);
  });

  it("goes behind DATA first after a while, as the connection may be closed for being idle", async () => {
    await pause(1100);
    await expectSentOn(1);
    expect(isInChunks()).to.equal(false);
    await expectSentOn(1, bob);
    expect(isInChunks()).to.equal(true);
  });

  it("goes behind DATA where the server knows no pipelining", async () => {
    server.always("EHLO", "250-wire\r\n250 CHUNKING");
    await mailer.close();
    mailer = createSmtpMailer({ url: server.url, maxConnections: 1, timeoutMs: 1500, answerTimeoutMs: 1500 });
    for (const mail of [ada, bob]) await expectSentOn(2, mail);
    expect(isInChunks()).to.equal(false);
  });

  for (const [moment, reply] of [
    ["MAIL", "550 5.1.8 sender"],
    ["RCPT", "550 5.1.1 nobody"],
    ["RCPT", "450 4.2.1 later"],
    ["BDAT", "552 5.3.4 too big"],
    ["BDAT", "451 4.3.0 not now"],
  ] as const) {
    for (const after of ["503 5.5.1 no recipient", "554 5.5.1 no valid recipients", "250 2.0.0 taken by nobody"]) {
      if (moment === "BDAT" && after !== "503 5.5.1 no recipient") continue;
      it(`is what the server said at ${moment}, ${reply}, before ${after}, and another one follows after RSET`, async () => {
        server.next(moment, reply);
        if (moment !== "BDAT") server.next("BDAT", after);
        expect(await mailer.send(ada)).to.have.nested.property("error.replyCode", Number(reply.slice(0, 3)));
        await expectSentOn(1, bob);
        expect(server.heard.commands).to.include("RSET");
      });
    }
  }

  for (const moment of ["MAIL", "RCPT", "BDAT"] as const) {
    it(`goes over another connection after 421 at ${moment}`, async () => {
      server.next(moment, "421 4.3.2 shutting down");
      await expectSentOn(2);
    });

    for (const answer of ["hang up", "say nothing", "hello", `250 ${"x".repeat(64 * 1024)}`, "354 and?"]) {
      it(`has an unknown outcome after ${JSON.stringify(answer.slice(0, 20))} at ${moment}, and is the last of its kind`, async () => {
        server.next(moment, answer);
        await expectUnknown();
        await expectNoMoreChunks();
      });
    }
  }

  it("is what the server said at RCPT, even if it then closes the connection", async () => {
    for (const end of ["hang up", "421 4.7.0 too many errors"]) {
      server.next("RCPT", "550 5.1.1 nobody");
      server.next("BDAT", end);
      expect(await mailer.send(ada)).to.have.nested.property("error.replyCode", 550);
      await expectSentOn(end === "hang up" ? 2 : 3, bob);
    }
  });

  it("is sent once where the answer takes longer than a command may, but not longer than a whole mail may", async () => {
    await mailer.close();
    mailer = createSmtpMailer({ url: server.url, maxConnections: 1, timeoutMs: 1500, answerTimeoutMs: 60_000 });
    await expectSentOn(2, bob);
    server.next("BDAT", "say nothing");
    const outcome = mailer.send(ada);
    await eventually(() => expect(server.heard.messages).to.have.lengthOf(2));
    await pause(2000);
    server.sayGoodbye("250 2.0.0 taken at last");
    expect(await outcome).to.deep.equal({ kind: "sent", response: "250 2.0.0 taken at last" });
    expect(isInChunks()).to.equal(true);
    expect(server.heard.messages).to.have.lengthOf(2);
  });

  it("is followed by no other one where the server says more than it was asked", async () => {
    server.next("BDAT", "250 2.0.0 taken\r\n250 2.0.0 taken");
    await expectSentOn(1);
    await expectSentOn(2, bob);
  });

  it("goes behind DATA over another connection where the server does not know what it offers", async () => {
    server.ignoreChunks();
    await expectSentOn(2);
    await expectNoMoreChunks();
    expect(server.heard.messages).to.have.lengthOf(4);
  });

  it("is not sent to an address that cannot be said", async () => {
    expect(await mailer.send(mailTo(""))).to.have.nested.property("error.code", "unsendable");
    await expectSentOn(1);
    expect(isInChunks()).to.equal(true);
  });
});

describe("the trust in a server that takes chunks", () => {
  it("is there at first, and an hour after it was lost", () => {
    let now = 0;
    const trust = createChunkTrust(() => now);
    expect(trust.isGiven()).to.equal(true);
    trust.lose();
    now = 3_599_999;
    expect(trust.isGiven()).to.equal(false);
    now = 3_600_000;
    expect(trust.isGiven()).to.equal(true);
  });
});
