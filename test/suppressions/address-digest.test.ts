import { expect } from "chai";
import { createAddressDigest, digestPattern } from "../../src/suppressions/address-digest.ts";

const digest = createAddressDigest(Buffer.alloc(32, 1));

describe("the digest of an address", () => {
  it("is one token of a subject that tells nothing of it", () => {
    expect(digest("acme", "ada@example.com")).to.match(digestPattern);
    expect(digest("acme", "ada@example.com")).not.to.match(/ada|example/i);
  });

  it("is the same whatever the case, and however its letters and its domain are written", () => {
    const alike = [
      ["ada@example.com", "ADA@Example.COM"],
      ["grüße@example.com", "gru\u0308ße@example.com"],
      ["info@büro.example", "info@xn--bro-hoa.example"],
      ["info@BÜRO.example", "INFO@büro.example"],
    ] as const;
    for (const [one, other] of alike) expect(digest("acme", one), one).to.equal(digest("acme", other));
  });

  it("is another for another address, tenant or secret", () => {
    const others = [
      digest("acme", "ada@example.org"),
      digest("acme", "ada+list@example.com"),
      digest("acme", "a.da@example.com"),
      digest("shop", "ada@example.com"),
      createAddressDigest(Buffer.alloc(32, 2))("acme", "ada@example.com"),
    ];
    expect(new Set([digest("acme", "ada@example.com"), ...others]).size).to.equal(others.length + 1);
  });
});
