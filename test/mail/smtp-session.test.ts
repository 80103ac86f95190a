import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { type Mailer, MailWithdrawn } from "../../src/mail/mailer.ts";
import { createReceiverPatience } from "../../src/mail/receiver-patience.ts";
import { createSmtpMailer } from "../../src/mail/smtp-mailer.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { mailTo } from "./letters.ts";
import { startWireServer, type WireServer } from "./wire-server.ts";

const ada = mailTo("ada@example.com");
/** More than a connection takes before its other end reads it. */
const large = mailTo("ada@example.com", { text: "A line of a large text.\r\n".repeat(700_000) });

describe("a session with the mail server", () => {
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

  /** Has this much time for a step of a mail, and for the answer to a whole one. */
  const beginMailer = async (timeoutMs: number, answerTimeoutMs: number, url = server.url): Promise<void> => {
    await mailer.close();
    mailer = createSmtpMailer({ url, maxConnections: 1, timeoutMs, answerTimeoutMs, name: "mail.example.org" });
  };
  const expectSentAnew = async (): Promise<void> => {
    expect(await mailer.send(ada)).to.include({ kind: "sent" });
    expect(server.heard.messages).to.have.lengthOf(1);
    expect(server.connections()).to.equal(2);
  };

  it("begins with the name that was set for this host", async () => {
    await beginMailer(1500, 1500);
    await mailer.send(ada);
    expect(server.heard.commands[0]).to.equal("EHLO mail.example.org");
  });

  describe("that is slow", () => {
    it("is not cut off while a large mail leaves steadily", async () => {
      await beginMailer(1500, 60_000, await startSlowReader());
      const beganAt = performance.now();
      expect((await mailer.send(large)).kind).to.equal("sent");
      expect(performance.now() - beganAt).to.be.above(1500);
    });

    it("is heard where the answer to a whole mail takes longer than one to a command may", async () => {
      await beginMailer(1500, 60_000);
      server.next("dot", "say nothing");
      const outcome = mailer.send(ada);
      await eventually(() => expect(server.heard.messages).to.have.lengthOf(1));
      await pause(2000);
      server.sayGoodbye("250 2.0.0 taken at last");
      expect(await outcome).to.deep.equal({ kind: "sent", response: "250 2.0.0 taken at last" });
      expect(server.heard.messages).to.have.lengthOf(1);
    });

    it("has answered in time where this process stood still before it read the answer", async () => {
      await beginMailer(500, 500, await startFreezer(".", 1000));
      expect(await mailer.send(ada)).to.deep.equal({ kind: "sent", response: "250 frozen" });
    });

    it("gets the end of no mail that may not be sent any more where this process stood still in the middle", async () => {
      await beginMailer(20_000, 20_000, await startFreezer("RCPT", 1100));
      const answers = [true, false];
      const mayStill = async (): Promise<boolean> => answers.shift() ?? expect.fail("It was asked too often.");
      expect(await failureOf(mailer.send({ ...ada, mayStill }))).to.be.instanceOf(MailWithdrawn);
    });

    it("defers a mail where a command, or a piece of the mail, takes longer than it may", async function () {
      this.timeout(20_000);
      await beginMailer(1500, 60_000);
      for (const [moment, reaction] of [
        ["RCPT", "say nothing"],
        ["body", "stop reading"],
      ] as const) {
        server.next(moment, reaction);
        expect(await mailer.send(large), moment).to.have.nested.property("error.code", "timed-out");
      }
    });

    it("leaves a mail unknown where the answer to the whole mail takes longer than it may", async function () {
      this.timeout(20_000);
      await beginMailer(60_000, 500);
      server.next("dot", "say nothing");
      expect(await mailer.send(ada)).to.have.nested.property("error.code", "outcome-unknown");
      expect(server.heard.messages).to.have.lengthOf(1);
    });
  });

  describe("that was idle", () => {
    beforeEach(async () => {
      await mailer.send(ada);
      server.heard.messages.length = 0;
    });

    it("and was ended by the server is replaced", async () => {
      server.sayGoodbye("421 4.4.2 idle for too long");
      await eventually(() => expect(server.openConnections()).to.equal(0));
      await expectSentAnew();
    });

    it("is used again", async () => {
      expect(await mailer.send(ada)).to.include({ kind: "sent" });
      expect(server.connections()).to.equal(1);
    });

    for (const moment of ["MAIL", "RCPT", "DATA"] as const) {
      it(`and turns out to be dead at ${moment} is no outage`, async () => {
        server.next(moment, "hang up");
        await expectSentAnew();
      });

      it(`and is closed with 421 at ${moment} is no outage`, async () => {
        server.next(moment, "421 4.3.2 shutting down");
        await expectSentAnew();
      });
    }

    it("and answers a whole mail with 421 has not taken it", async () => {
      server.next("dot", "421 4.3.2 shutting down");
      expect(await mailer.send(ada)).to.include({ kind: "sent" });
      expect(server.heard.messages).to.have.lengthOf(2);
    });
  });

  describe("that breaks off in a mail", () => {
    for (const moment of ["body", "dot"] as const) {
      it(`leaves it unknown at the ${moment}, does not send it twice, and is replaced for the next one`, async () => {
        server.next(moment, "hang up");
        expect(await mailer.send(ada)).to.have.nested.property("error.code", "outcome-unknown");
        expect(server.connections()).to.equal(1);
        expect((await mailer.send(mailTo("bob@example.com"))).kind).to.equal("sent");
      });
    }

    for (const moment of ["MAIL", "RCPT", "DATA"] as const) {
      it(`at ${moment} each time defers it, and that one alone, where others were answered`, async () => {
        await mailer.close();
        const limits = { maxConnections: 1, timeoutMs: 1500, answerTimeoutMs: 1500 };
        mailer = createSmtpMailer({ url: server.url, ...limits, patience: createReceiverPatience(null) });
        expect((await mailer.send(mailTo("bob@example.com"))).kind).to.equal("sent");
        for (let tries = 0; tries < 3; tries += 1) server.next(moment, "hang up");
        expect(await mailer.send(ada)).to.deep.equal({
          kind: "deferred",
          error: {
            code: "deferred",
            message: "The mail server closed the connection",
            replyCode: null,
            statusCode: null,
          },
        });
        expect((await mailer.send(mailTo("bob@example.com"))).kind).to.equal("sent");
        expect(server.heard.messages).to.have.lengthOf(2);
      });
    }

    for (const reply of ["503 5.5.1 bad sequence", "530 5.7.0 not without a login"]) {
      it(`with ${reply} defers it, and that one alone, where others were answered`, async () => {
        await mailer.close();
        const limits = { maxConnections: 1, timeoutMs: 1500, answerTimeoutMs: 1500 };
        mailer = createSmtpMailer({
          url: server.url,
          ...limits,
          patience: createReceiverPatience((address) => address),
        });
        await mailer.send(mailTo("bob@example.com"));
        server.always("RCPT", reply);
        expect(await mailer.send(ada)).to.deep.nested.include({ kind: "deferred", "error.message": reply });
        server.always("RCPT", null);
        await mailer.send(mailTo("bob@example.com"));
        server.always("RCPT", reply);
        for (const to of ["r1@example.com", "r2@example.com"]) await mailer.send(mailTo(to));
        expect((await mailer.send(mailTo("r3@example.com"))).kind).to.equal("unavailable");
      });
    }

    it("leaves it unknown where no answer to the final dot comes in time", async () => {
      server.next("dot", "say nothing");
      expect(await mailer.send(ada)).to.have.nested.property("error.code", "outcome-unknown");
      expect(server.connections()).to.equal(1);
      await eventually(() => expect(server.openConnections()).to.equal(0));
    });

    for (const moment of ["MAIL", "RCPT", "DATA"] as const) {
      it(`defers it where no answer comes at ${moment}`, async () => {
        server.next(moment, "say nothing");
        expect(await mailer.send(ada)).to.have.nested.property("error.code", "timed-out");
        expect(server.heard.messages).to.deep.equal([]);
      });
    }
  });

  describe("in which one mail is refused", () => {
    const extensions = { pipelined: "250-wire\r\n250 PIPELINING", "one command at a time": "250 wire" };
    for (const [kind, ehlo] of Object.entries(extensions)) {
      for (const [moment, reply] of [
        ["MAIL", "550 5.1.8 sender"],
        ["RCPT", "550 5.1.1 nobody"],
      ] as const) {
        it(`at ${moment}, ${kind}, takes the next one`, async () => {
          server.always("EHLO", ehlo);
          server.next(moment, reply);
          if (kind === "pipelined") server.next("DATA", "503 5.5.1 no recipient");
          expect((await mailer.send(ada)).kind).to.equal("failed");
          expect(await mailer.send(mailTo("bob@example.com"))).to.include({ kind: "sent" });
          expect(server.connections()).to.equal(1);
          const bobs = server.heard.commands.slice(server.heard.commands.indexOf("RSET"));
          expect(bobs).to.deep.equal(["RSET", "MAIL FROM:<waybill@example.org>", "RCPT TO:<bob@example.com>", "DATA"]);
        });
      }

      it(`after its final dot, ${kind}, takes the next one`, async () => {
        server.always("EHLO", ehlo);
        server.next("dot", "554 5.7.1 policy");
        expect((await mailer.send(ada)).kind).to.equal("failed");
        expect((await mailer.send(ada)).kind).to.equal("sent");
        expect(server.connections()).to.equal(1);
      });
    }

    it("is replaced where the server does not forget that mail", async () => {
      server.next("RCPT", "450 4.2.1 later");
      server.next("DATA", "503 5.5.1 no recipient");
      server.next("RSET", "say nothing");
      expect((await mailer.send(ada)).kind).to.equal("deferred");
      expect((await mailer.send(ada)).kind).to.equal("sent");
      expect(server.connections()).to.equal(2);
    });
  });

  describe("among several", () => {
    it("is one of at most as many as are allowed, and a mail waits for the next free one", async () => {
      await mailer.close();
      mailer = createSmtpMailer({ url: server.url, maxConnections: 3, timeoutMs: 5000, answerTimeoutMs: 5000 });
      const outcomes = await Promise.all(
        Array.from({ length: 30 }, (_, index) => mailer.send(mailTo(`r${index}@x.org`))),
      );
      expect(outcomes.every(({ kind }) => kind === "sent")).to.equal(true);
      expect(server.connections()).to.equal(3);
    });

    it("carries the mails for which the server, which allows a client few connections, opens no more of them", async () => {
      await mailer.close();
      mailer = createSmtpMailer({ url: server.url, maxConnections: 10, timeoutMs: 5000, answerTimeoutMs: 5000 });
      await mailer.send(ada);
      server.always("greeting", "421 4.7.0 Too many connections");
      const outcomes = await Promise.all(
        Array.from({ length: 30 }, (_, index) => mailer.send(mailTo(`r${index}@x.org`))),
      );
      expect(outcomes.map(({ kind }) => kind)).to.deep.equal(Array(30).fill("sent"));
      expect(server.connections()).to.equal(10);
    });

    it("is closed where the server says in answer to a mail that it is one too many, and another one carries the mail", async () => {
      await mailer.close();
      mailer = createSmtpMailer({ url: server.url, maxConnections: 10, timeoutMs: 5000, answerTimeoutMs: 5000 });
      for (let mails = 0; mails < 7; mails += 1)
        server.next("MAIL", "432 4.3.2 Concurrent connections limit exceeded.");
      const outcomes = await Promise.all(
        Array.from({ length: 30 }, (_, index) => mailer.send(mailTo(`r${index}@x.org`))),
      );
      expect(outcomes.map(({ kind }) => kind)).to.deep.equal(Array(30).fill("sent"));
      expect(server.connections()).to.equal(10);
      await eventually(() => expect(server.openConnections()).to.equal(3));
    });

    it("leaves none idle that would take the place of a probe", async () => {
      await mailer.send(ada);
      expect(await mailer.probe()).to.deep.equal({ kind: "ready" });
      await eventually(() => expect(server.openConnections()).to.equal(0));
    });

    it("is replaced after 500 mails, with QUIT and without losing one", async () => {
      for (let mails = 0; mails < 501; mails += 1) expect((await mailer.send(ada)).kind).to.equal("sent");
      expect(server.connections()).to.equal(2);
      expect(server.heard.commands).to.include("QUIT");
      expect(server.heard.messages).to.have.lengthOf(501);
    });

    it("gives its place to a waiting mail when it cannot be opened", async () => {
      server.next("greeting", "554 5.3.2 not you");
      server.next("greeting", "554 5.3.2 not you");
      server.next("greeting", "554 5.3.2 not you");
      const outcomes = await Promise.all([mailer.send(ada), mailer.send(mailTo("bob@example.com"))]);
      expect(outcomes.map(({ kind }) => kind)).to.include("sent");
    });

    it("ends with the mailer, and so does the waiting for one", async () => {
      server.always("dot", "say nothing");
      const outcomes = [mailer.send(ada), mailer.send(mailTo("bob@example.com"))];
      await eventually(() => expect(server.heard.messages).to.have.lengthOf(1));
      await mailer.close();
      expect((await Promise.all(outcomes)).map(({ kind }) => kind)).to.deep.equal(["unknown", "unavailable"]);
      await eventually(() => expect(server.openConnections()).to.equal(0));
    });
  });
});

/** A server for one connection that takes every mail, with a pause after each piece of it. Returns its URL. */
async function startSlowReader(): Promise<string> {
  const server = createServer((socket) => {
    let isInMessage = false;
    socket.on("error", () => {}).write("220 slow\r\n");
    const take = async (bytes: Buffer): Promise<void> => {
      if (isInMessage) {
        socket.pause();
        await pause(8);
        socket.resume();
        if (!bytes.subarray(-5).equals(Buffer.from("\r\n.\r\n"))) return;
      }
      isInMessage = bytes.toString() === "DATA\r\n";
      socket.write(isInMessage ? "354 go on\r\n" : "250 slow\r\n");
    };
    socket.on("data", (bytes: Buffer) => void take(bytes));
  }).listen(0, "127.0.0.1");
  server.once("connection", () => server.close());
  await once(server, "listening");
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server for one connection that takes every mail. Once it has answered at this moment, all of this process stands still. */
async function startFreezer(moment: "RCPT" | ".", forMs: number): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {}).write("220 frozen\r\n");
    socket.on("data", (bytes: Buffer) => {
      const text = bytes.toString();
      socket.write(text === "DATA\r\n" ? "354 go on\r\n" : "250 frozen\r\n");
      if (text.startsWith(moment) || text.endsWith(`\r\n${moment}\r\n`))
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs);
    });
  }).listen(0, "127.0.0.1");
  server.once("connection", () => server.close());
  await once(server, "listening");
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
