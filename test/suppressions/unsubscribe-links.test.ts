import { expect } from "chai";
import { createAddressDigest } from "../../src/suppressions/address-digest.ts";
import { createUnsubscribeLinks, unsubscribeUrl } from "../../src/suppressions/unsubscribe-links.ts";

const secret = Buffer.alloc(32, 1);
const digest = createAddressDigest(secret);
const links = createUnsubscribeLinks(secret, digest);
const job = { tenant: "acme", jobId: "01a1fcc6-9aa9-7457-8c2b-35459085e941" };
const token = links.tokenFor(job, 12, "ada@example.com");

describe("the link of a mail to unsubscribe by", () => {
  it("says whom to mail no more and which mail it stood in, without an address", () => {
    expect(links.read(token)).to.deep.equal({ job, recipient: 12, digest: digest("acme", "ada@example.com") });
    expect(token).not.to.match(/ada|example|@/i);
    expect(encodeURIComponent(token)).to.equal(token);
  });

  it("is the same for the same mail, on every process", () => {
    expect(createUnsubscribeLinks(secret, digest).tokenFor(job, 12, "ADA@example.com")).to.equal(token);
  });

  it("is invalid when anything in it is changed", () => {
    const [tenant, jobId, recipient, itsDigest, signature] = token.split(".");
    const forged = [
      ["shop", jobId, recipient, itsDigest, signature],
      [tenant, "another", recipient, itsDigest, signature],
      [tenant, jobId, "13", itsDigest, signature],
      [tenant, jobId, recipient, digest("acme", "bob@example.com"), signature],
      [tenant, jobId, recipient, itsDigest, "A".repeat(22)],
      [tenant, jobId, recipient, itsDigest, signature?.slice(1)],
      [tenant, jobId, recipient, itsDigest, ""],
      [tenant, jobId, recipient, itsDigest],
      ["x", tenant, jobId, recipient, itsDigest, signature],
      [],
    ].map((parts) => parts.join("."));
    for (const one of [...forged, `${token}A`, `${token}.`, "...", "ä".repeat(90), "A".repeat(100_000)]) {
      expect(links.read(one), one.slice(0, 100)).to.equal(null);
    }
    expect(createUnsubscribeLinks(Buffer.alloc(32, 2), digest).read(token)).to.equal(null);
  });

  it("leads below the address at which the service is reached", () => {
    expect(unsubscribeUrl("https://mail.example.com", "t")).to.equal("https://mail.example.com/unsubscribe/t");
    expect(unsubscribeUrl("https://example.com/mail/", "t")).to.equal("https://example.com/mail/unsubscribe/t");
  });
});
