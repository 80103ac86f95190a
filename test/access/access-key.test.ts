import { expect } from "chai";
import { newAccessKey, parseAccessKey } from "../../src/access/access-key.ts";

describe("An API key", () => {
  const key = newAccessKey();

  it("can be found in source code by its shape, which starts with wb_ and names the key's id", () => {
    expect(key.text).to.match(/^wb_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/);
    expect(key.text.split("_")[1]).to.equal(key.id);
    expect(parseAccessKey(key.text)).to.deep.equal(key);
  });

  it("is another one each time", () => {
    const keys = Array.from({ length: 1000 }, newAccessKey);
    expect(new Set(keys.map(({ id }) => id)).size).to.equal(1000);
    expect(new Set(keys.map(({ text }) => text.slice(16))).size).to.equal(1000);
  });

  it("has a checksum: with any one character changed it is none", () => {
    for (let index = 0; index < key.text.length; index += 1) {
      const other = key.text[index] === "x" ? "y" : "x";
      expect(parseAccessKey(key.text.slice(0, index) + other + key.text.slice(index + 1))).to.equal(null);
    }
  });

  for (const text of ["", "wb_", `${key.text} `, `${key.text}\n`, key.text.slice(1), `${key.text}0`, "ключ"]) {
    it(`is not ${JSON.stringify(text.replace(key.text, "<a key>"))}`, () => {
      expect(parseAccessKey(text)).to.equal(null);
    });
  }
});
