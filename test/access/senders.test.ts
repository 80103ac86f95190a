import { expect } from "chai";
import { isSenderAllowed, normalisedSender } from "../../src/access/caller-limits.ts";

describe("The senders that a tenant may use", () => {
  const senders = ["bob@shop.example", "acme.example", "xn--bcher-kva.example"];

  for (const address of ["bob@shop.example", "Bob@SHOP.example", "any@acme.example", "a@Bücher.example"]) {
    it(`allow ${address}`, () => expect(isSenderAllowed(address, senders)).to.equal(true));
  }

  for (const address of [
    "ann@shop.example",
    "any@mail.acme.example",
    "any@evilacme.example",
    "acme.example",
    "acme.example@evil.example",
    "bob@shop.example@evil.example",
    "",
  ]) {
    it(`do not allow ${JSON.stringify(address)}`, () => expect(isSenderAllowed(address, senders)).to.equal(false));
  }

  it("are compared in one form", () => {
    expect(normalisedSender("Ada@Bücher.Example")).to.equal("ada@xn--bcher-kva.example");
    expect(normalisedSender("EXAMPLE.com")).to.equal("example.com");
    expect(normalisedSender("a b")).to.equal("");
    expect(normalisedSender("nodots")).to.equal("");
  });
});
