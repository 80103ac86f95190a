import { expect } from "chai";
import fc from "fast-check";
import { checkHeaders } from "../../../src/job-kinds/email/mail-request.ts";
import { createComposer } from "../../../src/mail/compose-letter.ts";
import { exampleLetter } from "../../mail/letters.ts";

const expected = "expected message ids in ASCII, such as <17@example.com>, with spaces between them";

describe("the headers of a request", () => {
  const ids: readonly string[] = [
    "<17@example.com>",
    "17@example.com",
    "<1@example.com> <2@example.com>  <3@example.com> ",
    `<${"a".repeat(900)}>`,
  ];
  for (const value of ids) {
    it(`may name other mails: ${value.slice(0, 60)}`, () => {
      for (const name of ["References", "in-reply-to"]) {
        expect(checkHeaders({ headers: { [name]: value } }).valid, name).to.equal(true);
      }
    });
  }

  const others: readonly string[] = [
    "<grüße@example.com>",
    "<17@büro.example>",
    "",
    "<1 7@example.com>",
    `<${"a".repeat(901)}>`,
  ];
  for (const value of others) {
    it(`name no other mail by anything but its id: ${value.slice(0, 60)}`, () => {
      const shown = value.length > 60 ? `${value.slice(0, 60)}…` : value;
      for (const name of ["References", "in-reply-to"]) {
        const message = `headers.${name} is "${shown}"; ${expected}`;
        const checked = checkHeaders({ headers: { [name]: value } });
        expect(checked).to.deep.equal({ valid: false, faults: [{ pointer: `/headers/${name}`, message }] });
      }
    });
  }

  it("may hold other text in any other place", () => {
    expect(checkHeaders({ headers: { "X-Text": "Grüße", "x-empty": "" } }).valid).to.equal(true);
    expect(checkHeaders({}).valid).to.equal(true);
  });

  it("never make a line that is not ASCII, or longer than 998 bytes, of the ids that are accepted", async () => {
    const piece = fc.constantFrom("a", "@", ".", "<", ">", " ", "ü", '"', "x".repeat(300), "<1@b> ");
    const values = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join("").slice(0, 998));
    await fc.assert(
      fc.asyncProperty(values, fc.constantFrom("References", "In-Reply-To"), async (value, name) => {
        const headers = { [name]: value };
        fc.pre(checkHeaders({ headers }).valid);
        const letter = exampleLetter({ headers });
        const { messageOf } = await createComposer(null)(letter);
        const mail = { letter, to: "ada@example.com", messageId: "<one@example.org>" };
        const message = Buffer.concat(await messageOf(mail, new Date(0))).toString("latin1");
        for (const line of message.split("\r\n")) expect(line).to.match(/^[ -~]{0,998}$/);
      }),
    );
  });
});
