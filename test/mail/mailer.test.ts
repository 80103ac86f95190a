import { expect } from "chai";
import { messageIdOf } from "../../src/mail/mailer.ts";

const idFor = (sender: string): string => messageIdOf("acme", "job", 0, sender);
const domainOf = (id: string): string => id.slice(id.indexOf("@") + 1, -1);

describe("the Message-ID of a mail", () => {
  it("ends with the domain of its sender, in ASCII", () => {
    expect(domainOf(idFor("shop@Example.org"))).to.equal("Example.org");
    expect(domainOf(idFor("info@büro.example"))).to.equal("xn--bro-hoa.example");
    expect(idFor("grüße@例え.example")).to.match(/^<[!-~]+>$/);
  });
});
