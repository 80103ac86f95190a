import { expect } from "chai";
import { mailTo } from "../../../src/job-kinds/email/mailing.ts";
import { exampleLetter } from "../../mail/letters.ts";

const addressee = {
  job: { tenant: "acme", jobId: "job" },
  index: 0,
  recipient: { email: "ada@example.com" },
  unsubscribeUrl: null,
};

describe("the mail of a sender on an internationalised domain", () => {
  const letters = { letter: exampleLetter({ from: "Büro <info@büro.example>" }), personalFor: () => null };

  it("has a Message-ID in ASCII", () => {
    expect(mailTo(letters, addressee, null).messageId).to.match(/^<[0-9a-f]{32}@xn--bro-hoa\.example>$/);
  });

  it("has one also where it has a return path of its own, whose token it holds", () => {
    const returnPathOf = () => ({ token: "token1", address: "bounces+token1@b.example" });
    expect(mailTo(letters, addressee, returnPathOf).messageId).to.equal("<token1@xn--bro-hoa.example>");
  });
});
