import { expect } from "chai";
import { patternsOf } from "../../src/database/spellings.ts";

describe("the patterns of an address", () => {
  it("say nothing of what is not ASCII, of what a mark may be composed with, and of what Unicode makes of other letters", () => {
    expect(patternsOf("i\u0307sma\u00efl.kemal`@example.com")).to.deep.equal([
      "%%sma%l._emal_@example.com%",
      "%%sma%l._emal_@%",
    ]);
  });

  it("match wildcards and the escape as they are", () => {
    expect(patternsOf("50%_!\u0308@example.com")).to.deep.equal(["%50!%!_%@example.com%", "%50!%!_%@%"]);
  });

  it("are one and the same for a text without an @", () => {
    expect(patternsOf("https://example.com/ü")).to.deep.equal(Array(2).fill("%https://example.com/%%"));
  });
});
