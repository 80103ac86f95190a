import { expect } from "chai";
import { createComposer } from "../../src/mail/compose-letter.ts";
import { headerField, longestValue } from "../../src/mail/letter-form.ts";
import { exampleLetter } from "./letters.ts";

/** The lines of the header that name it, without their ends. */
async function linesOf(name: string, value: string): Promise<readonly string[]> {
  const letter = exampleLetter({ headers: { [name]: value } });
  const { messageOf } = await createComposer(null)(letter);
  const mail = { letter, to: "ada@example.com", messageId: "<one@example.org>" };
  const [header = ""] = Buffer.concat(await messageOf(mail, new Date(0)))
    .toString()
    .split("\r\n\r\n");
  const field = header.split(/\r\n(?! )/).find((one) => one.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  return field?.split("\r\n") ?? [];
}

describe("a header that the request sets", () => {
  const structured: readonly [string, string][] = [
    ["List-ID", '"Example News" <news.example.org>'],
    ["X-SMTPAPI", '{"category":["november"],"unique_args":{"a":"b"}}'],
    ["X-Encoded", "=?UTF-8?Q?Gr=C3=BC=C3=9Fe?= =?x?="],
  ];
  for (const [name, value] of structured) {
    it(`goes out as it is where ASCII can print it: ${name}`, async () => {
      expect(await linesOf(name, value)).to.deep.equal([`${name}: ${value}`]);
    });
  }

  it("is folded at its spaces where it is long, and loses none of them", async () => {
    const value = JSON.stringify({ category: Array.from({ length: 40 }, (_, index) => `of month  ${index}`) });
    const lines = await linesOf("X-SMTPAPI", value);
    expect(lines.length).to.be.above(5);
    expect(Math.max(...lines.map(({ length }) => length))).to.be.at.most(76);
    expect(lines.join("")).to.equal(`X-SMTPAPI: ${value}`);
  });

  it("makes no line of more than 998 characters where it has the most that a request may, without a space", async () => {
    const lines = await linesOf("X-Token", "x".repeat(longestValue));
    expect(lines.map(({ length }) => length)).to.deep.equal([8, 998]);
  });

  const gap = " ".repeat(300);
  for (const [where, value] of [
    ["between its words", `a${gap}b`],
    ["at its end", `a${gap}`],
  ] as const) {
    it(`has no line of white space alone, however much of it there is ${where}`, async () => {
      for (const lines of [await linesOf("X-Text", value), headerField("X-Text", value).line.split("\r\n")]) {
        expect(lines.join("")).to.equal(`X-Text: ${value}`);
        expect(lines.filter((line) => line.trim() === "")).to.deep.equal([]);
      }
    });
  }

  it("is encoded where ASCII cannot print it, quotes and all", async () => {
    expect((await linesOf("X-Text", '"Grüße"')).join("")).to.match(/^X-Text: (?:=\?UTF-8\?Q\?[!-~]+\?= ?)+$/);
  });

  it("has each id in brackets, and no line of more than 76 bytes, where it holds ids of other mails", async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `${index}@mail.example.org`);
    const lines = await linesOf("References", ids.join(" "));
    expect(lines.join("")).to.equal(`References: ${ids.map((id) => `<${id}>`).join(" ")}`);
    expect(Math.max(...lines.map(({ length }) => length))).to.be.at.most(76);
    expect(await linesOf("In-Reply-To", '"17"@example.org')).to.deep.equal(['In-Reply-To: <"17"@example.org>']);
    for (const name of ["In-Reply-To", "References", "in-reply-to"]) {
      const lines = await linesOf(name, " <1@example.org>  2@example.org ");
      expect(lines.join("").toLowerCase()).to.equal(`${name.toLowerCase()}: <1@example.org> <2@example.org>`);
    }
  });
});
