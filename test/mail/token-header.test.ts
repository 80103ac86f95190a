import { expect } from "chai";
import { readPostmark } from "../../src/feedback/reports/postmark.ts";
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

const headerOf = async (tokenHeader: string | null): Promise<string> => {
  const { messageOf } = await createComposer(null)({ ...letter, tokenHeader });
  const raw = Buffer.concat(await messageOf(mail, now)).toString();
  return raw.slice(0, raw.indexOf("\r\n\r\n"));
};

describe("A provider that replaces return path and Message-ID", () => {
  it("is Postmark alone, at whatever name of its own", () => {
    expect(tokenHeaderFor("smtp.postmarkapp.com")).to.equal("X-PM-Metadata-waybill");
    expect(tokenHeaderFor("SMTP-Broadcasts.PostmarkApp.com")).to.equal("X-PM-Metadata-waybill");
    for (const host of ["mail.example.org", "postmarkapp.com.example.org", "notpostmarkapp.com"]) {
      expect(tokenHeaderFor(host), host).to.equal(null);
    }
  });

  it("gets the token of each mail in a header, which it gives back with a bounce", async () => {
    expect(await headerOf("X-PM-Metadata-waybill")).to.match(/^X-PM-Metadata-waybill: token1$/m);
    const [reading] = readPostmark({ RecordType: "Bounce", Type: "HardBounce", Metadata: { waybill: "token1" } }) ?? [];
    expect(reading?.kind === "report" ? reading.report.names : []).to.include("token1");
  });

  it("is the only one that does", async () => {
    expect(await headerOf(null))
      .to.not.include("token1\r\nX-")
      .and.not.match(/^X-/m);
  });
});
