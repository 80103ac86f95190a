import { expect } from "chai";
import fc from "fast-check";
import MailComposer from "nodemailer/lib/mail-composer";
import { writePlainAddress, writePlainRecipient } from "../../src/mail/compose-letter.ts";

const written = (address: string): { readonly header: string; readonly envelope: readonly string[] } => {
  const node = new MailComposer({}).compile();
  const to = { name: "", address };
  return { header: node.encodeHeaderValue("To", to), envelope: node.setEnvelope({ to }).getEnvelope().to };
};

describe("a plain address", () => {
  it("is written as nodemailer writes it, wherever it is taken for plain", () => {
    const usual = fc.constantFrom("a", "B", "0", "10", "com", "TEST", "-", "_", "+", ".");
    const odd = fc.constantFrom("0x1f", "--", "xn--", "..", "é", "'", " ", "[", "]", '"', ",");
    const piece = fc.oneof({ arbitrary: usual, weight: 12 }, { arbitrary: odd, weight: 1 });
    const part = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(""));
    let plain = 0;
    fc.assert(
      fc.property(part, part, fc.constantFrom("", ".com", ".Example", ".1", "."), (user, host, end) => {
        const address = `${user}@${host}${end}`;
        const ours = writePlainAddress(address);
        if (ours === null) return;
        plain += 1;
        expect(written(address)).to.deep.equal({ header: ours, envelope: [ours] });
      }),
      { numRuns: 5000 },
    );
    expect(plain).to.be.above(100);
  });

  it("has the name of its recipient before it, as nodemailer writes it, wherever that is taken for plain", () => {
    const node = new MailComposer({}).compile();
    const usual = fc.constantFrom("Ada", "x", "0", " ", "_", ".", ",", "'", "-", "(", ")", "&");
    const odd = fc.constantFrom(
      '"',
      "\\",
      "@",
      "<",
      ">",
      "  ",
      "é",
      "\t",
      "=?utf-8?Q?x?=",
      ";",
      ":",
      "[",
      "]",
      "~",
      "\u007f",
    );
    const piece = fc.oneof({ arbitrary: usual, weight: 12 }, { arbitrary: odd, weight: 1 });
    let plain = 0;
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }), (pieces) => {
        const name = pieces.join("");
        const ours = writePlainRecipient("ada@example.com", name);
        if (ours === null) return;
        plain += 1;
        expect(ours).to.equal(node.encodeHeaderValue("To", { name, address: "ada@example.com" }));
      }),
      { numRuns: 5000 },
    );
    expect(plain).to.be.above(100);
    expect(
      ["Ada Lovelace", "Lovelace, A.", 'Ada "A"', "Adá", " Ada"].map((name) =>
        writePlainRecipient("ada@Example.com", name),
      ),
    ).to.deep.equal(["Ada Lovelace <ada@example.com>", '"Lovelace, A." <ada@example.com>', null, null, null]);
    expect(writePlainRecipient("a..b@example.com", "Ada")).to.equal(null);
  });

  it("is what most addresses are", () => {
    const most = ["ada@example.com", "Ada.Lovelace+news@Mail.Example.co.uk", "a_b-c@x1.example"];
    expect(most.map(writePlainAddress)).to.deep.equal([
      "ada@example.com",
      "Ada.Lovelace+news@mail.example.co.uk",
      "a_b-c@x1.example",
    ]);
  });

  it("is none that could mean something else, or that has to be encoded", () => {
    const others = [
      "ada@xn--bcher-kva.example",
      "grüße@example.com",
      "ada@127.0.0.1",
      "a..b@example.com",
      '"a b"@example.com',
      "ada@localhost",
      `${"a".repeat(250)}@example.com`,
    ];
    expect(others.map(writePlainAddress)).to.deep.equal(others.map(() => null));
  });
});
