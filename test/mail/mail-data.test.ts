import { expect } from "chai";
import fc from "fast-check";
import { fromMailData, toMailData } from "../../src/mail/mail-data.ts";

describe("a text between DATA and the final dot", () => {
  const examples: readonly [string, string][] = [
    ["plain\r\n", "plain\r\n"],
    [".\r\n..\r\na.\r\n.b\r\n", "..\r\n...\r\na.\r\n..b\r\n"],
    ["lone CR\rlone LF\nboth\r\n", "lone CR\r\nlone LF\r\nboth\r\n"],
    ["one\r.\rtwo\n.\nthree\r\n", "one\r\n..\r\ntwo\r\n..\r\nthree\r\n"],
  ];
  for (const [text, data] of examples) {
    it(`is ${JSON.stringify(data)} for ${JSON.stringify(text)}`, () => expect(toMailData(text)).to.equal(data));
  }

  it("never holds what a server could take for the end of the mail, and loses nothing", () => {
    const texts = fc.array(fc.constantFrom("\r", "\n", "\r\n", ".", "a")).map((parts) => parts.join(""));
    fc.assert(
      fc.property(texts, (text) => {
        const data = toMailData(text);
        expect(`\n${data}`).not.to.match(/[\r\n]\.(?!\.)|\r(?!\n)|[^\r]\n/);
        expect(fromMailData(data)).to.equal(text.replace(/\r\n|\r|\n/g, "\r\n"));
      }),
    );
  });
});
