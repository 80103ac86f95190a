import { expect } from "chai";
import type { Mail, Mailer } from "../../src/mail/mailer.ts";
import { createSmtpMailer } from "../../src/mail/smtp-mailer.ts";
import { isHardBounce } from "../../src/suppressions/suppression-guard.ts";
import { mailTo } from "./letters.ts";
import { expectSent, startWireServer, type WireServer } from "./wire-server.ts";

const ada = mailTo("ada@example.com");
const bob = mailTo("bob@example.com");
/** More than a connection takes before its other end reads it. */
const large = mailTo("ada@example.com", { text: "A line of a large text.\r\n".repeat(700_000) });

const extensions = { "in one write": "250-wire\r\n250 PIPELINING", "one by one": "250 wire" };

for (const [how, ehlo] of Object.entries(extensions)) {
  describe(`a mail whose commands are said ${how}`, () => {
    let server: WireServer;
    let mailer: Mailer;

    beforeEach(async () => {
      server = await startWireServer();
      server.always("EHLO", ehlo);
      mailer = createSmtpMailer({ url: server.url, maxConnections: 1, timeoutMs: 1500, answerTimeoutMs: 1500 });
    });

    afterEach(async () => {
      await mailer.close();
      await server.stop();
    });

    /** Has time for a large mail, and for what the server still reads of it. */
    const beginPatientMailer = async (): Promise<void> => {
      await mailer.close();
      mailer = createSmtpMailer({ url: server.url, maxConnections: 1, timeoutMs: 100_000, answerTimeoutMs: 100_000 });
    };
    const expectSentOn = (connection: number, mail = ada) => expectSent(mailer, mail, server, connection);
    const expectUnknown = async (): Promise<void> => {
      expect(await mailer.send(ada)).to.have.nested.property("error.code", "outcome-unknown");
      expect(server.connections()).to.equal(1);
      await expectSentOn(2, bob);
    };

    it("goes in two writes where it may, else in four", async () => {
      await mailer.send(ada);
      const before = server.heard.reads;
      await expectSentOn(1, bob);
      expect(server.heard.reads - before).to.equal(how === "in one write" ? 2 : 4);
    });

    it("is answered in pieces, and in replies of several lines", async () => {
      server.sayByteByByte();
      server.next("MAIL", "250-2.1.0 go\r\n250 2.1.0 on");
      server.next("dot", "250-2.0.0 taken\r\n250 2.0.0 really");
      expect(await mailer.send(ada)).to.deep.equal({
        kind: "sent",
        response: "250-2.0.0 taken\n250 2.0.0 really",
      });
      await expectSentOn(1, bob);
    });

    for (const moment of ["MAIL", "RCPT", "DATA"] as const) {
      for (const breach of ["hello", "250-yes\r\n550 no", `250 ${"x".repeat(64 * 1024)}`, "150 wait", "354 354"]) {
        if (moment === "DATA" && breach.startsWith("354")) continue;
        it(`goes over another connection after ${JSON.stringify(breach.slice(0, 20))} at ${moment}`, async () => {
          server.next(moment, breach);
          await expectSentOn(2);
          expect(server.heard.messages).to.have.lengthOf(1);
        });
      }

      for (const end of ["hang up", "421 4.3.2 shutting down"]) {
        it(`goes over another connection after "${end}" at ${moment}`, async () => {
          server.next(moment, end);
          await expectSentOn(2);
          expect(server.heard.messages).to.have.lengthOf(1);
        });
      }

      it(`is deferred where no answer comes at ${moment}`, async () => {
        server.next(moment, "say nothing");
        expect(await mailer.send(ada)).to.have.nested.property("error.code", "timed-out");
        expect(server.heard.messages).to.deep.equal([]);
        await expectSentOn(2, bob);
      });
    }

    for (const answer of [
      "hang up",
      "say nothing",
      "hello",
      "250-yes\r\n550 no",
      `250 ${"x".repeat(64 * 1024)}`,
      "354 and?",
    ]) {
      it(`has an unknown outcome after ${JSON.stringify(answer.slice(0, 20))} at its final dot`, async () => {
        server.next("dot", answer);
        await expectUnknown();
      });
    }

    it("goes over another connection where this one ends before its final dot", async function () {
      this.timeout(120_000);
      await beginPatientMailer();
      server.next("body", "hang up");
      await expectSentOn(2, large);
      expect(server.heard.messages).to.have.lengthOf(1);
    });

    it("is deferred where the server stops reading before its final dot", async () => {
      server.next("body", "stop reading");
      expect(await mailer.send(large)).to.have.nested.property("error.code", "timed-out");
      await expectSentOn(2, bob);
    });

    it("has failed where the server refuses it before its final dot, and the connection is replaced", async function () {
      this.timeout(120_000);
      await beginPatientMailer();
      server.next("body", "552 5.3.4 too big");
      expect(await mailer.send(large)).to.have.deep.nested.include({ kind: "failed", "error.replyCode": 552 });
      await expectSentOn(2, bob);
    });

    it("is not sent because the server says so before it has it", async () => {
      server.next("DATA", "354 go on\r\n250 2.0.0 taken");
      await expectSentOn(2);
      expect(server.heard.messages).to.have.lengthOf(1);
    });

    it("is not sent to a server that begins its answer before it has it", async () => {
      server.next("DATA", Buffer.from("354 go on\r\n250 "));
      await expectSentOn(2);
      expect(server.heard.messages).to.have.lengthOf(1);
    });

    it("is not sent to a server that would read it as commands", async () => {
      server.next("DATA", "250 2.0.0 why not");
      await expectSentOn(2);
      expect(server.heard.commands.filter((command) => command.startsWith("Subject:"))).to.deep.equal([]);
    });

    it("is followed by no other one where the server says more than it was asked", async () => {
      server.next("dot", "250 2.0.0 taken\r\n250 2.0.0 taken");
      await expectSentOn(1);
      await expectSentOn(2, bob);
    });

    for (const [moment, reply] of [
      ["MAIL", "550 5.1.8 sender"],
      ["RCPT", "550 5.1.1 nobody"],
      ["RCPT", "450 4.2.1 later"],
      ["DATA", "451 4.3.0 not now"],
    ] as const) {
      it(`is what the server said at ${moment}, ${reply}, and another one follows after RSET`, async () => {
        server.next(moment, reply);
        if (moment !== "DATA" && how === "in one write") server.next("DATA", "503 5.5.1 no recipient");
        expect(await mailer.send(ada)).to.have.nested.property("error.replyCode", Number(reply.slice(0, 3)));
        expect(server.heard.commands.includes("DATA")).to.equal(moment === "DATA" || how === "in one write");
        await expectSentOn(1, bob);
        expect(server.heard.commands).to.include("RSET");
      });
    }

    it("is not refused because of its recipient where the server refuses its sender", async () => {
      server.next("MAIL", "550 5.1.1 unknown");
      if (how === "in one write")
        for (const moment of ["RCPT", "DATA"] as const) server.next(moment, "503 5.5.1 no sender");
      const outcome = await mailer.send(ada);
      expect(outcome).to.deep.nested.include({
        kind: "failed",
        "error.code": "sender-rejected",
        "error.statusCode": "5.1.1",
      });
      expect(outcome.kind === "failed" && isHardBounce(outcome.error)).to.equal(false);
      server.next("RCPT", "550 5.1.1 unknown");
      if (how === "in one write") server.next("DATA", "503 5.5.1 no recipient");
      const other = await mailer.send(ada);
      expect(other.kind === "failed" && isHardBounce(other.error)).to.equal(true);
    });

    it("is what the server said at RCPT, even if it then closes the connection", async () => {
      server.next("RCPT", "550 5.1.1 nobody");
      server.next(how === "in one write" ? "DATA" : "RSET", "421 4.7.0 too many errors");
      expect(await mailer.send(ada)).to.have.nested.property("error.replyCode", 550);
      await expectSentOn(2, bob);
    });

    for (const answer of ["hang up", "say nothing", "502 5.5.1 unknown"]) {
      it(`is followed by another one elsewhere after "${answer}" at RSET`, async () => {
        server.next("dot", "554 5.7.1 policy");
        server.next("RSET", answer);
        expect((await mailer.send(ada)).kind).to.equal("failed");
        await expectSentOn(2, bob);
      });
    }

    const withOtherScripts: Readonly<Record<string, Mail>> = {
      "the recipient": mailTo("grüße@example.com"),
      "the address for replies": mailTo("ada@example.com", { replyTo: "Jörg <grüße@example.com>" }),
      "the sender, with a return path": {
        ...mailTo("ada@example.com", { from: "grüße@example.org" }),
        returnPath: "waybill@example.org",
      },
    };
    for (const [whose, mail] of Object.entries(withOtherScripts)) {
      it(`goes to no server that does not know the script of ${whose}`, async () => {
        const outcome = await mailer.send(mail);
        expect(outcome).to.deep.nested.include({ kind: "failed", "error.code": "unsendable" });
        expect(server.heard.commands.filter((command) => command.startsWith("MAIL"))).to.deep.equal([]);
        await expectSentOn(1, bob);
        server.always("EHLO", ehlo.replace("250 ", "250-").concat("\r\n250 SMTPUTF8"));
        await mailer.close();
        mailer = createSmtpMailer({ url: server.url, maxConnections: 1, timeoutMs: 1500, answerTimeoutMs: 1500 });
        await expectSentOn(2, mail);
        expect(server.heard.commands).to.include("MAIL FROM:<waybill@example.org> SMTPUTF8");
      });
    }

    it("needs no server that knows other scripts for a name or a domain", async () => {
      await expectSentOn(
        1,
        mailTo("ada@büro.example", { from: "Jörg <joerg@büro.example>", replyTo: "Ü <a@büro.example>" }),
      );
      expect(server.heard.commands).to.include("MAIL FROM:<joerg@xn--bro-hoa.example>");
    });
  });
}

describe("a mail server that answers every command at once", () => {
  let server: WireServer;
  let mailer: Mailer;

  beforeEach(async () => {
    server = await startWireServer();
    mailer = createSmtpMailer({ url: server.url, maxConnections: 1, timeoutMs: 1500, answerTimeoutMs: 1500 });
  });

  afterEach(async () => {
    await mailer.close();
    await server.stop();
  });

  it("and waits for a message without a recipient gets a dot alone, whatever it answers", async () => {
    for (const answer of ["554 5.5.1 no valid recipients", "250 2.0.0 taken"]) {
      server.heard.messages.length = 0;
      server.next("RCPT", "550 5.1.1 nobody");
      server.next("dot", answer);
      expect(await mailer.send(ada)).to.have.nested.property("error.message", "550 5.1.1 nobody");
      expect(server.heard.messages.map(String)).to.deep.equal([""]);
    }
    expect((await mailer.send(bob)).kind).to.equal("sent");
    expect(server.connections()).to.equal(1);
  });

  for (const answer of ["hang up", "say nothing", "421 4.7.0 too many errors"]) {
    it(`and waits for a message without a recipient, and then answers "${answer}"`, async () => {
      server.next("RCPT", "550 5.1.1 nobody");
      server.next("dot", answer);
      expect(await mailer.send(ada)).to.have.nested.property("error.message", "550 5.1.1 nobody");
      expect((await mailer.send(bob)).kind).to.equal("sent");
      expect(server.connections()).to.equal(2);
    });
  }

  it("and waits for a message without a sender gets none", async () => {
    server.next("MAIL", "550 5.1.8 sender");
    expect(await mailer.send(ada)).to.have.nested.property("error.message", "550 5.1.8 sender");
    expect(server.heard.messages).to.deep.equal([]);
    expect((await mailer.send(bob)).kind).to.equal("sent");
    expect(server.connections()).to.equal(2);
  });

  it("and refuses the sender is told nothing more of that mail", async () => {
    server.next("MAIL", "550 5.1.8 sender");
    server.next("RCPT", "503 5.5.1 no sender");
    server.next("DATA", "503 5.5.1 no sender");
    expect(await mailer.send(ada)).to.have.nested.property("error.message", "550 5.1.8 sender");
    expect((await mailer.send(bob)).kind).to.equal("sent");
    expect(server.connections()).to.equal(1);
  });

  for (const [moment, reply, kind] of [
    ["MAIL", "550 5.1.8 sender", "failed"],
    ["RCPT", "550 5.1.1 nobody", "failed"],
    ["RCPT", "450 4.2.1 later", "deferred"],
  ] as const) {
    it(`and then hangs up has said ${reply} at ${moment} all the same`, async () => {
      server.next(moment, reply);
      server.next(moment === "MAIL" ? "RCPT" : "DATA", "hang up");
      expect(await mailer.send(ada)).to.deep.nested.include({ kind, "error.message": reply });
      await expectSent(mailer, bob, server, 2);
    });
  }

  for (const before of [[], ["503 5.5.1 MAIL first"]]) {
    it(`and hangs up after 450 at MAIL${before.length === 0 ? "" : " and 503 at RCPT"} may have ended an idle connection, so the mail goes over another one`, async () => {
      server.next("MAIL", "450 4.3.2 later");
      for (const reply of before) server.next("RCPT", reply);
      server.next(before.length === 0 ? "RCPT" : "DATA", "hang up");
      await expectSent(mailer, ada, server, 2);
    });
  }

  for (const unasked of ["\r\n250 hello\r\n", "\r\n250 hello", "\r\n2"]) {
    it(`and says ${JSON.stringify(unasked)} behind its extensions is not used`, async () => {
      server.always("EHLO", Buffer.from(`250-wire\r\n250 PIPELINING${unasked}`));
      expect(await mailer.send(ada)).to.have.nested.property("error.code", "smtp-unavailable");
      expect(server.heard.commands.filter((command) => !command.startsWith("EHLO"))).to.deep.equal([]);
    });
  }

  it("and sends empty lines behind what it says is used nevertheless", async () => {
    server.always("EHLO", "250-wire\r\n250 PIPELINING\r\n");
    server.always("dot", "250 2.0.0 taken\r\n");
    for (const mail of [ada, bob]) expect((await mailer.send(mail)).kind).to.equal("sent");
    expect(server.connections()).to.equal(1);
  });

  it("and says more than that the password is right is not used", async () => {
    await mailer.close();
    mailer = createSmtpMailer({
      url: server.url.replace("//", "//waybill:s3cret@"),
      maxConnections: 1,
      timeoutMs: 1500,
      answerTimeoutMs: 1500,
    });
    server.always("EHLO", "250-wire\r\n250 AUTH PLAIN");
    server.always("AUTH", "235 2.7.0 welcome\r\n250 2.1.0 OK");
    expect(await mailer.send(ada)).to.have.nested.property("error.code", "smtp-unavailable");
    expect(server.heard.commands.join()).not.to.match(/MAIL|RCPT|DATA/);
  });
});
