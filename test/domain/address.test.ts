import { expect } from "chai";
import { addressOf, mailboxOf, nameOf, namesAddress } from "../../src/domain/recipients/address.ts";
import { toCsvRecord } from "../../src/schemas/csv.ts";

describe("a text", () => {
  const ada = "ada@example.com";

  for (const [what, text] of [
    ["in a field of JSON", JSON.stringify({ email: "Ada@Example.com" })],
    ["behind an escape of JSON", JSON.stringify({ body: `Dear\n${ada}` })],
    ["behind an escaped control character", JSON.stringify(`\u0001${ada}`)],
    ["in a link", `<a href="mailto:${ada}?to=${ada}">`],
    ["at the end of a sentence", `Mail goes to ${ada}.`],
    ["behind the address of somebody else that ends like it", `n${ada},${ada}`],
    ["in a record of CSV", toCsvRecord(["1", "ADA@EXAMPLE.COM", null])],
  ] as const) {
    it(`names an address ${what}`, () => {
      expect(namesAddress(text, ada), text).to.equal(true);
    });
  }

  for (const other of [`n${ada}`, `x.${ada}`, `x+${ada}`, `${ada}.uk`, `${ada}munity`, "ada@example.org"]) {
    it(`that names ${other} does not name ${ada}`, () => {
      expect(namesAddress(JSON.stringify({ email: other }), ada)).to.equal(false);
    });
  }

  it("names an address with quotes in whatever form it was written", () => {
    const quoted = '"ada lovelace"@example.com';
    const formula = "+ada@example.com";
    for (const text of [quoted, JSON.stringify([quoted]), toCsvRecord([quoted])]) {
      expect(namesAddress(text, quoted), text).to.equal(true);
    }
    expect(namesAddress(toCsvRecord([formula]), formula)).to.equal(true);
  });

  it("names a URL that a job called", () => {
    const url = "https://Example.com/hook";
    expect(namesAddress(JSON.stringify({ email: url }), url.toLowerCase())).to.equal(true);
    expect(namesAddress(JSON.stringify({ email: `${url}s` }), url)).to.equal(false);
  });
});

describe("a mailbox", () => {
  for (const [text, email, name] of [
    ["ada@example.com", "ada@example.com", null],
    ["<ada@example.com>", "ada@example.com", null],
    ["Ada Lovelace <ada@example.com>", "ada@example.com", "Ada Lovelace"],
    ['"Lovelace, Ada" <ada@example.com>', "ada@example.com", "Lovelace, Ada"],
    ['"" <ada@example.com>', "ada@example.com", null],
  ] as const) {
    it(`is read as an address and a name: ${text}`, () => {
      expect([addressOf(text), nameOf(text)]).to.deep.equal([email, name]);
    });
  }

  it("is written with quotes where its name needs them", () => {
    const email = "ada@example.com";
    expect(mailboxOf({ email })).to.equal(email);
    expect(mailboxOf({ email, name: "Ada Lovelace" })).to.equal("Ada Lovelace <ada@example.com>");
    expect(mailboxOf({ email, name: 'Lovelace, "Ada"' })).to.equal('"Lovelace, \\"Ada\\"" <ada@example.com>');
  });
});
