import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import { readPostmark } from "../../src/feedback/reports/postmark.ts";
import { readSendgrid } from "../../src/feedback/reports/sendgrid.ts";
import { createComposer } from "../../src/mail/compose-letter.ts";
import type { Letter } from "../../src/mail/mailer.ts";
import { fieldsReplacedBy, tokenHeaderFor } from "../../src/mail/token-header.ts";
import { toRecord, verifyDkim } from "../support/verify-dkim.ts";

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

describe("A provider that writes fields of a header anew", () => {
  const servers = ["email-smtp.eu-west-1.amazonaws.com", "smtp.postmarkapp.com"];
  const rewritten = (raw: string, names: readonly string[]): string =>
    names.reduce(
      (text, name) => text.replace(new RegExp(`^${name}:.*(?:\\r\\n[ \\t].*)*`, "im"), `${name}: other`),
      raw,
    );

  for (const host of servers) {
    it(`leaves the signature of a mail valid: ${host}`, async () => {
      const { privateKey, publicKey } = generateKeyPairSync("ed25519");
      const key = { domain: "example.org", selector: "s", privateKey, from: null };
      const { messageOf } = await createComposer({ keys: [key], fallback: null }, fieldsReplacedBy(host))(letter);
      const raw = Buffer.concat(await messageOf(mail, now)).toString("latin1");
      const names = host.includes("amazonaws") ? ["Message-ID", "Date"] : ["Message-ID"];
      const records = { "s._domainkey.example.org": toRecord(publicKey) };
      const [verdict] = verifyDkim(rewritten(raw, names), records);
      expect(verdict).to.include({ isBodyIntact: true, isHeaderIntact: true });
      expect(verifyDkim(rewritten(raw, ["Subject"]), records)[0]).to.include({ isHeaderIntact: false });
    });
  }

  it("is no other", () => {
    for (const host of ["email-smtp-fips.us-east-1.amazonaws.com", "vpce-1.email-smtp.us-east-1.vpce.amazonaws.com"])
      expect(fieldsReplacedBy(host), host).to.deep.equal(["message-id", "date"]);
    for (const host of ["smtp.sendgrid.net", "mail.example.org", "email-smtp.example.org", "s3.amazonaws.com"])
      expect(fieldsReplacedBy(host), host).to.deep.equal([]);
  });
});
