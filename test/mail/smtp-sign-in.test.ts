import { expect } from "chai";
import type { Mailer } from "../../src/mail/mailer.ts";
import { createSmtpMailer } from "../../src/mail/smtp-mailer.ts";
import { mailTo } from "./letters.ts";
import { startWireServer, type WireServer } from "./wire-server.ts";

const ada = mailTo("ada@example.com");

describe("a session with the mail server that does not come about", () => {
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

  const expectUnavailable = async (code: string): Promise<void> => {
    expect(await mailer.send(ada)).to.have.nested.property("error.code", code);
    expect((await mailer.send(ada)).kind).to.equal("unavailable");
    expect(await mailer.probe()).to.have.nested.property("error.code", code);
    expect(server.heard.commands.join()).not.to.match(/MAIL|RCPT|DATA/);
  };

  it("because the password is refused, is begun once for each mail, and no more often", async () => {
    const url = server.url.replace("//", "//waybill:s3cret@");
    await mailer.close();
    mailer = createSmtpMailer({ url, maxConnections: 1, timeoutMs: 1500, answerTimeoutMs: 1500 });
    server.always("EHLO", "250-wire\r\n250 AUTH PLAIN");
    server.always("AUTH", "535 5.7.8 no such user");
    await expectUnavailable("smtp-authentication-failed");
    expect(server.heard.commands.filter((command) => command.startsWith("AUTH"))).to.have.lengthOf(3);
  });

  it("because the server offers no login for the password that is set, is begun once for each mail", async () => {
    const url = server.url.replace("//", "//waybill:s3cret@");
    await mailer.close();
    mailer = createSmtpMailer({ url, maxConnections: 1, timeoutMs: 1500, answerTimeoutMs: 1500 });
    await expectUnavailable("smtp-authentication-failed");
    expect(server.heard.commands.join()).not.to.include("AUTH");
    expect(server.connections()).to.equal(3);
  });

  it("because a server on another host offers no TLS, is not told the password", async () => {
    // Leads here, as 127.0.0.1 does, and does not say so.
    const url = server.url.replace("//127.0.0.1", "//waybill:s3cret@0.0.0.0");
    await mailer.close();
    mailer = createSmtpMailer({ url, maxConnections: 1, timeoutMs: 1500, answerTimeoutMs: 1500 });
    server.always("EHLO", "250-wire\r\n250 AUTH PLAIN");
    server.always("STARTTLS", "502 5.5.1 no such command");
    await expectUnavailable("smtp-unavailable");
    expect(await mailer.probe())
      .to.have.nested.property("error.message")
      .that.includes("gives no TLS");
    expect(server.heard.commands.join()).not.to.include("AUTH");
  });

  it("because TLS is offered and then refused, sends nothing in the clear", async () => {
    server.always("EHLO", "250-wire\r\n250 STARTTLS");
    server.always("STARTTLS", "454 4.7.0 not now");
    await expectUnavailable("smtp-unavailable");
  });

  it("because TLS breaks off, sends nothing in the clear", async () => {
    server.always("EHLO", "250-wire\r\n250 STARTTLS");
    server.always("STARTTLS", "hang up");
    await expectUnavailable("smtp-unavailable");
  });

  for (const moment of ["greeting", "EHLO"] as const) {
    it(`because the server says nothing at ${moment}, ends in time`, async () => {
      server.always(moment, "say nothing");
      await expectUnavailable("smtp-unavailable");
    });

    it(`because the server hangs up at ${moment}, makes the server unavailable`, async () => {
      server.always(moment, "hang up");
      await expectUnavailable("smtp-unavailable");
    });
  }
});
