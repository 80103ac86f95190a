import { expect } from "chai";
import fc from "fast-check";
import { maskReply } from "../../src/mail/mask-reply.ts";

const mail = { to: "ada.lovelace@example.com", subject: "Your invoice" };

describe("an answer of a mail server, as it is kept", () => {
  const examples: readonly [string, string][] = [
    ["550 5.1.1 <ada.lovelace@example.com>: Recipient address rejected", "550 5.1.1 <***>: Recipient address rejected"],
    ["550 ADA.LOVELACE@EXAMPLE.COM unknown", "550 *** unknown"],
    ["550 5.1.1 ada.lovelace: no such user", "550 5.1.1 ***: no such user"],
    ["250 2.0.0 forwarded to charles@analytical.example", "250 2.0.0 forwarded to ***"],
    ["554 5.7.1 looks like spam: your invoice", "554 5.7.1 looks like spam: ***"],
    ["250 2.0.0 Ok: queued as 4F2A91C0", "250 2.0.0 Ok: queued as 4F2A91C0"],
  ];
  for (const [reply, kept] of examples) {
    it(`says ${JSON.stringify(kept)} for ${JSON.stringify(reply)}`, () => {
      expect(maskReply(reply, mail)).to.equal(kept);
    });
  }

  it("never holds the address, whatever stands around it", () => {
    fc.assert(
      fc.property(fc.emailAddress(), fc.string(), fc.string(), (to, before, after) => {
        const kept = maskReply(`${before} <${to}> ${after}`, { to, subject: "s" });
        expect(kept.toLowerCase()).not.to.include(to.toLowerCase());
      }),
    );
  });

  it("is of a length that no broken server fills the log with", () => {
    expect(maskReply(`250 ${"x".repeat(60_000)}`, mail)).to.have.length(2002);
    expect(maskReply(`250 ${"x".repeat(1990)} ${mail.to}`, mail)).not.to.include("ada");
  });

  it("takes what stands in an address or a subject for text, not for a pattern", () => {
    expect(maskReply("550 a+b(c@example.com [x]", { to: "a+b(c@example.com", subject: "[x" })).not.to.include("a+b");
  });
});
