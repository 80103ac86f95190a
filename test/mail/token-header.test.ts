import { expect } from "chai";
import { readPostmark } from "../../src/feedback/reports/postmark.ts";
import { readSendgrid } from "../../src/feedback/reports/sendgrid.ts";
import { createComposer } from "../../src/mail/compose-letter.ts";
import type { Letter } from "../../src/mail/mailer.ts";
import { tokenHeaderFor } from "../../src/mail/token-header.ts";

const letter: Letter = {
  from: "News <news@example.org>",
  replyTo: null,
  subject: "News",
  html: null,
  text: "Hello",
  headers: {},
};
const mail = {
  letter,
  to: "ada@example.com",
  messageId: "<token1@example.org>",
  returnPath: "bounces+token1@b.example.org",
};
const now = new Date("2026-11-21T09:30:00.000Z");

const headerOf = async (tokenHeader: string | null, headers = {}): Promise<string> => {
  const { messageOf } = await createComposer(null)({ ...letter, headers, tokenHeader });
  const raw = Buffer.concat(await messageOf(mail, now)).toString();
  return raw.slice(0, raw.indexOf("\r\n\r\n"));
};

describe("A provider that does not always give return path or Message-ID back", () => {
  it("is Postmark, or SendGrid, at whatever name of its own", () => {
    expect(tokenHeaderFor("smtp.postmarkapp.com")).to.equal("X-PM-Metadata-waybill");
    expect(tokenHeaderFor("SMTP-Broadcasts.PostmarkApp.com")).to.equal("X-PM-Metadata-waybill");
    for (const host of ["smtp.sendgrid.net", "smtp.eu.sendgrid.net"]) {
      expect(tokenHeaderFor(host), host).to.equal("X-SMTPAPI");
    }
    for (const host of ["mail.example.org", "notsendgrid.net", "postmarkapp.com.example.org", "notpostmarkapp.com"]) {
      expect(tokenHeaderFor(host), host).to.equal(null);
    }
  });

  it("gets the token of each mail in a header, which it gives back with a bounce", async () => {
    expect(await headerOf("X-PM-Metadata-waybill")).to.match(/^X-PM-Metadata-waybill: token1$/m);
    const [reading] = readPostmark({ RecordType: "Bounce", Type: "HardBounce", Metadata: { waybill: "token1" } }) ?? [];
    expect(reading?.kind === "report" ? reading.report.names : []).to.include("token1");
  });

  it("gives it back with a complaint, too, for which SendGrid leaves the Message-ID out", async () => {
    const [, given = ""] = /^X-SMTPAPI: (.+)$/m.exec(await headerOf("X-SMTPAPI")) ?? [];
    const { unique_args } = JSON.parse(given);
    const [reading] = readSendgrid([{ event: "spamreport", email: "ada@example.com", ...unique_args }]) ?? [];
    expect(reading?.kind === "report" ? reading.report.names : []).to.deep.equal(["token1"]);
  });

  it("gets none where the letter has such a header of its own", async () => {
    const own = '{"category": "news"}';
    const header = await headerOf("X-SMTPAPI", { "x-smtpapi": own });
    expect(header.match(/^X-SMTPAPI: .*$/gim)).to.deep.equal([`X-SMTPAPI: ${own}`]);
  });

  it("is the only one that does", async () => {
    expect(await headerOf(null))
      .to.not.include("token1\r\nX-")
      .and.not.match(/^X-/m);
  });
});
