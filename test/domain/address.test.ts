import { domainToASCII } from "node:url";
import { expect } from "chai";
import fc from "fast-check";
import { addressOf, mailboxOf, nameOf, namesAddress, normalisedAddress } from "../../src/domain/recipients/address.ts";
import { toCsvRecord } from "../../src/schemas/csv.ts";
import { runsOf } from "../support/property-runs.ts";

const spellings = [
  "ada.grün@büro.example",
  "ADA.GRÜN@BÜRO.EXAMPLE",
  "ada.gru\u0308n@bu\u0308ro.example",
  "ada.grün@xn--bro-hoa.example",
  "Ada.Gru\u0308n@XN--BRO-HOA.example",
  "ada.grün@büro。ｅxample",
];
const others = ["ada.grun@büro.example", "ada.grün@buro.example", "ada.grün@büro.example.uk", "ada.grün@büros.example"];

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

  for (const address of spellings) {
    it(`names an address in each of its spellings, asked for ${address}`, () => {
      for (const text of spellings) {
        expect(namesAddress(JSON.stringify({ email: text }), address), text).to.equal(true);
        expect(namesAddress(toCsvRecord(["1", text, null]), address), text).to.equal(true);
        expect(namesAddress(`Write to “${text}”, or don't.`, address), text).to.equal(true);
      }
      for (const other of others) expect(namesAddress(JSON.stringify([other]), address), other).to.equal(false);
      expect(namesAddress("Write to ada.grün@, or don't.", address)).to.equal(false);
    });
  }

  it("names an address whose domain alone is spelt in another way", () => {
    for (const text of ["ada@ｅxample.com", "ada@example。com", "Ada@EXAMPLE.COM"]) {
      expect(namesAddress(JSON.stringify({ email: text }), ada), text).to.equal(true);
      expect(namesAddress(JSON.stringify({ email: `n${text}` }), ada), text).to.equal(false);
    }
  });

  it("names a URL that a job called", () => {
    const url = "https://Example.com/hook";
    expect(namesAddress(JSON.stringify({ email: url }), url.toLowerCase())).to.equal(true);
    expect(namesAddress(JSON.stringify({ email: `${url}s` }), url)).to.equal(false);
  });
});

describe("the normalised form of an address", () => {
  it("is the same for each spelling, and another for another address", () => {
    expect(new Set(spellings.map(normalisedAddress))).to.deep.equal(new Set(["ada.grün@xn--bro-hoa.example"]));
    expect(new Set([...spellings, ...others].map(normalisedAddress)).size).to.equal(others.length + 1);
  });

  it("of a URL is its lower case, though it has a domain beyond ASCII or an @", () => {
    for (const url of ["https://BÜRO.example/Ü", "https://ada@büro.example/", "https://example.com/@bu\u0308ro/1"]) {
      expect(normalisedAddress(url)).to.equal(url.toLowerCase());
    }
  });

  it("has the domain that Node has", () => {
    const parts = [
      "a",
      "B",
      "ü",
      "u\u0308",
      "ß",
      "İ",
      "ｅ",
      "１",
      "℡",
      "例",
      "”",
      "😀",
      ".",
      "。",
      "-",
      "xn--",
      "_",
      "/",
      ":",
      "%",
    ];
    const domain = fc.array(fc.constantFrom(...parts, " ", "\u00ad", "\ud800", "bro-hoa", "0x"), { minLength: 1 });
    const beyondAscii = domain.map((some) => `ü${some.join("")}`).map((text) => text.normalize("NFC").toLowerCase());
    fc.assert(
      fc.property(beyondAscii, (text) => {
        expect(normalisedAddress(`ada@${text}`)).to.equal(`ada@${domainToASCII(text)}`);
      }),
      { numRuns: runsOf(1000) },
    );
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
