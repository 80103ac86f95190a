import { expect } from "chai";
import fc from "fast-check";
import { createReplyReader, type Reply } from "../../src/mail/smtp-reply-reader.ts";

/** What is read from bytes that arrive in these pieces. */
function read(...pieces: readonly (string | Buffer)[]) {
  const replies: Reply[] = [];
  const reader = createReplyReader((reply) => replies.push(reply));
  const isSmtp = pieces.every((piece) => reader.read(Buffer.from(piece)));
  return { replies, isSmtp, isInReply: reader.isInReply() };
}

describe("what a mail server says", () => {
  const conversation = Buffer.from("250 2.0.0 OK\r\n250-one\r\n250-\r\n250 zwölf\r\n354\r\n\r\n421 4.3.2 bye\r\n");
  const replies: readonly Reply[] = [
    { code: 250, text: "250 2.0.0 OK" },
    { code: 250, text: "250-one\n250-\n250 zwölf" },
    { code: 354, text: "354" },
    { code: 421, text: "421 4.3.2 bye" },
  ];

  it("is the same, in whatever pieces it arrives", () => {
    const cuts = fc
      .array(fc.nat(conversation.length), { maxLength: 8 })
      .map((at) => at.sort((one, other) => one - other));
    fc.assert(
      fc.property(cuts, (at) => {
        const pieces = [0, ...at].map((from, index) => conversation.subarray(from, at[index] ?? conversation.length));
        expect(read(...pieces)).to.deep.equal({ replies, isSmtp: true, isInReply: false });
      }),
    );
    expect(read(...Array.from(conversation, (byte) => Buffer.of(byte))).replies).to.deep.equal(replies);
  });

  it("is unfinished after a part of a line, and after a line that others follow", () => {
    expect(read("25")).to.deep.equal({ replies: [], isSmtp: true, isInReply: true });
    expect(read("250-one\r\n")).to.deep.equal({ replies: [], isSmtp: true, isInReply: true });
  });

  it("may end its lines without CR", () => {
    expect(read("250-one\n250 two\n").replies).to.deep.equal([{ code: 250, text: "250-one\n250 two" }]);
  });

  it("is kept byte for byte where it is no UTF-8", () => {
    expect(read(Buffer.from("250 zw\xf6lf\r\n", "latin1")).replies).to.deep.equal([{ code: 250, text: "250 zwölf" }]);
  });

  it("may be 64 kB", () => {
    const lines = [...Array.from({ length: 31 }, () => `250-${"x".repeat(2044)}`), `250 ${"x".repeat(2044)}`];
    expect(read(`${lines.join("\r\n")}\r\n`).replies).to.deep.equal([{ code: 250, text: lines.join("\n") }]);
  });

  const noReplies: Readonly<Record<string, string>> = {
    "a word": "hello\r\n",
    "another protocol": "HTTP/1.1 400 Bad Request\r\n",
    "a code of two digits": "25 OK\r\n",
    "a code of four digits": "2500 OK\r\n",
    "a code that RFC 5321 does not know": "150 wait\r\n",
    "lines with different codes": "250-yes\r\n550 no\r\n",
    "an empty line within a reply": "250-one\r\n\r\n250 two\r\n",
    "a line that is too long": `250 ${"x".repeat(2045)}\r\n`,
    "a line without an end": `250 ${"x".repeat(3000)}`,
    "too many lines": `${"250-x\r\n".repeat(33)}`,
  };
  for (const [what, said] of Object.entries(noReplies)) {
    it(`is no reply if it is ${what}, and those before it count`, () => {
      const { replies: before, isSmtp } = read(`250 OK\r\n${said}`);
      expect(before).to.deep.equal([{ code: 250, text: "250 OK" }]);
      expect(isSmtp).to.equal(false);
    });
  }
});
