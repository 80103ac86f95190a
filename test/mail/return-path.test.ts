import { createSecretKey } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import {
  createIsOurs,
  createMailTokens,
  createReturnPaths,
  isReturnPath,
  longestReturnLocalPart,
} from "../../src/mail/return-path.ts";

const job = { jobId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f" };
const keyOf = (byte: number) => createSecretKey(Buffer.alloc(32, byte));
const tokens = createMailTokens(keyOf(7));
const tokenOf = (recipient: number): string => tokens.of(job)?.(recipient) ?? "";

describe("The token of a mail", () => {
  it("names its job and its recipient, whatever they are", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.nat({ max: 65_535 }), (jobId, recipient) => {
        const token = tokens.of({ jobId })?.(recipient) ?? "";
        expect(tokens.find(token)).to.deep.equal({ jobId, recipient });
        expect(tokens.find(token.toUpperCase())).to.deep.equal({ jobId, recipient });
      }),
    );
  });

  it("is the same every time, so that every attempt has the same return path", () => {
    expect(tokenOf(3)).to.equal(createMailTokens(keyOf(7)).of(job)?.(3));
    expect(tokenOf(3)).to.not.equal(tokenOf(4));
  });

  it("is found in an address and in a Message-ID", () => {
    const named = { jobId: job.jobId, recipient: 3 };
    expect(tokens.find(`bounces+${tokenOf(3)}@b.example.org`)).to.deep.equal(named);
    expect(tokens.find(`<${tokenOf(3)}@example.org>`)).to.deep.equal(named);
    expect(tokens.find(`<prvs=1234=bounces+${tokenOf(3)}@b.example.org>`)).to.deep.equal(named);
  });

  it("cannot be made by others: one character changed anywhere names nothing", () => {
    const token = tokenOf(3);
    fc.assert(
      fc.property(
        fc.nat({ max: token.length - 1 }),
        fc.constantFrom(..."0123456789abcdefghijklmnopqrstuv"),
        (at, character) => {
          fc.pre(token[at] !== character);
          expect(tokens.find(token.slice(0, at) + character + token.slice(at + 1))).to.equal(null);
        },
      ),
    );
    expect(createMailTokens(keyOf(8)).find(token)).to.equal(null);
  });

  it("is not looked for in endless text", () => {
    expect(tokens.find(`${"x".repeat(5000)} ${tokenOf(3)}`)).to.equal(null);
    expect(tokens.find("")).to.equal(null);
  });

  it("does not exist for a job whose id is no UUID", () => {
    expect(tokens.of({ jobId: "job-1" })).to.equal(null);
  });
});

describe("The return path of a mail", () => {
  const base = "bounces@b.example.org";

  it("is the address of the setting with the token of the mail, and short enough for every mail server", () => {
    const address = createReturnPaths(tokens, base, []).of(job)?.(3).address ?? "";
    expect(address).to.equal(`bounces+${tokenOf(3)}@b.example.org`);
    expect("bounces".length).to.be.at.most(longestReturnLocalPart);
    expect(`${"b".repeat(longestReturnLocalPart)}+${tokenOf(3)}`).to.have.length(64);
  });

  it("leads to an address for complaints in the domain of the sender, or in the nearest one above it", () => {
    const { complaintsOf } = createReturnPaths(tokens, base, [
      "fbl@example.org",
      "fbl@news.example.org",
      "x@other.net",
    ]);
    expect(complaintsOf("ada@example.org")).to.equal("fbl@example.org");
    expect(complaintsOf("ada@News.Example.org")).to.equal("fbl@news.example.org");
    expect(complaintsOf("ada@a.b.example.org")).to.equal("fbl@example.org");
    expect(complaintsOf("ada@badexample.org")).to.equal(null);
  });

  it("is told from other addresses", () => {
    expect(isReturnPath(base, base)).to.equal(true);
    expect(isReturnPath("Bounces+anything@B.example.org", base)).to.equal(true);
    expect(isReturnPath("bouncesx@b.example.org", base)).to.equal(false);
    expect(isReturnPath("bounces+x@example.org", base)).to.equal(false);
  });

  for (const spelling of ["bounces@büro.example", "bounces@BÜRO.example", "bounces@xn--bro-hoa.example"]) {
    it(`is told from other addresses, where the setting is ${spelling}`, () => {
      const isOurs = createIsOurs(tokens, spelling, []);
      for (const domain of ["büro.example", "Xn--Bro-hoa.example"]) {
        expect(isOurs(`bounces+${tokenOf(3)}@${domain}`), domain).to.equal(true);
        expect(isOurs(`bounces@${domain}`), domain).to.equal(true);
        expect(isOurs(`bounces+${tokenOf(3).replace(/^./, "z")}@${domain}`), domain).to.equal(false);
        expect(isOurs(`bounces+${tokenOf(3)}@b.${domain}`), domain).to.equal(false);
      }
    });

    it(`is sent in ASCII, where the setting is ${spelling}`, () => {
      const address = createReturnPaths(tokens, spelling, []).of(job)?.(3).address;
      expect(address).to.equal(`bounces+${tokenOf(3)}@xn--bro-hoa.example`);
    });

    it(`leads to the address for complaints, in ASCII, where the settings are as ${spelling}`, () => {
      const complaints = [spelling.replace("bounces", "fbl")];
      const { complaintsOf } = createReturnPaths(tokens, base, complaints);
      const isOurs = createIsOurs(tokens, base, complaints);
      for (const domain of ["büro.example", "xn--bro-hoa.example"]) {
        expect(complaintsOf(`ada@news.${domain}`), domain).to.equal("fbl@xn--bro-hoa.example");
        expect(isOurs(`fbl@${domain}`), domain).to.equal(true);
      }
    });
  }
});
