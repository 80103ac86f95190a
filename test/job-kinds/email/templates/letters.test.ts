import { expect } from "chai";
import type { JobContent } from "../../../../src/content/content-store.ts";
import { checkLetters } from "../../../../src/job-kinds/email/templates/check-letters.ts";
import { PartFault, readLetters } from "../../../../src/job-kinds/email/templates/letters.ts";
import { exampleContent } from "../../../support/write-side.ts";

const template = { template: "liquid" as const };
const read = (content: Partial<JobContent>) => readLetters({ ...exampleContent, ...content }, "a@example.org");
const partsFor = (content: Partial<JobContent>, variables: object = {}) =>
  read({ ...template, ...content }).personalFor({ email: "ada@example.com", variables: { ...variables } });

describe("the mails of a mailing", () => {
  it("are all the same where nothing is left open", () => {
    const { letter, personalFor } = read({ subject: "Hi", html: null, text: "Hello" });
    expect(letter).to.include({ subject: "Hi", text: "Hello", html: null, from: "a@example.org" });
    expect(personalFor({ email: "ada@example.com" })).to.equal(null);
  });

  it("are sent with their braces where they were accepted as no template", () => {
    expect(read({ text: "{{ name }}" }).letter.text).to.equal("{{ name }}");
    expect(read({ text: "{{ name }}" }).personalFor({ email: "ada@example.com" })).to.equal(null);
  });

  it("know the address of the recipient as email, unless a variable is called so", () => {
    expect(partsFor({ subject: "For {{ email }}" })?.subject).to.equal("For ada@example.com");
    expect(partsFor({ subject: "For {{ email }}" }, { email: "you" })?.subject).to.equal("For you");
  });

  it("have a subject of one line, whatever stands in the variables", () => {
    const subject = partsFor({ subject: "Hi {{ name }}" }, { name: "Ada\r\nBcc: eve@example.org\u2028" })?.subject;
    expect(subject).to.equal("Hi Ada Bcc: eve@example.org");
  });

  it("have no subject of a thousand characters", () => {
    expect(() => partsFor({ subject: "{{ a }}" }, { a: "x".repeat(999) })).to.throw(PartFault, /999 characters/);
  });
});

describe("the text part of a mail that came as HTML", () => {
  const textOf = (html: string): string | null => read({ html, text: null }).letter.text;

  it("has the words and the links of the HTML, in lines of at most 78 characters", () => {
    const text = textOf(
      `<h1>Hello</h1><p>${"word ".repeat(40)}</p><p>See <a href="https://example.org/x">here</a>.</p><img src="x">`,
    );
    expect(text)
      .to.match(/^Hello\n/)
      .and.contain("here [https://example.org/x]");
    expect(Math.max(...(text ?? "").split("\n").map(({ length }) => length))).to.be.within(60, 78);
  });

  it("is the one that was given, if one was", () => {
    expect(read({ html: "<p>Hello</p>", text: "Hi" }).letter.text).to.equal("Hi");
  });

  it("is made once of a template, with what is left open still open, not escaped, also in a link", () => {
    const html =
      '<p>Hello {{ name | default: "you  there" }},</p><p><a href="https://example.org/{{ id }}">your order</a></p>';
    expect(partsFor({ html, text: null }, { name: "A & <B>", id: 7 })).to.deep.include({
      html: '<p>Hello A &amp; &lt;B&gt;,</p><p><a href="https://example.org/7">your order</a></p>',
      text: "Hello A & <B>,\n\nyour order [https://example.org/7]",
    });
    expect(partsFor({ html, text: null }, { id: 7 })?.text).to.match(/^Hello you {2}there,/);
  });

  it("is made of each mail where the template decides or repeats", () => {
    const html = "<ul>{% for i in items %}<li>{{ i }}</li>{% endfor %}</ul>{{ more | raw }}";
    const parts = partsFor({ html, text: null }, { items: ["<1>", "2"], more: "<p>See <b>you</b></p>" });
    expect(parts?.text).to.equal(" * <1>\n * 2\n\nSee you");
  });

  it("is that of the HTML where only the subject is a template", () => {
    expect(partsFor({ subject: "{{ email }}", html: "<p>Hi</p>", text: null })).to.include({
      html: "<p>Hi</p>",
      text: "Hi",
    });
  });

  for (const [what, html] of Object.entries({
    "nested a hundred thousand deep": "<div>".repeat(100_000),
    "a hundred thousand tags": "<p>a</p>".repeat(60_000),
    "nothing but brackets": "<".repeat(300_000),
    "a wide table": `<table><tr>${"<td>x".repeat(50_000)}</table>`,
  })) {
    it(`comes from HTML that is ${what}, or is left out`, () => {
      expect(typeof read({ html, text: null }).letter.html).to.equal("string");
    });
  }
});

describe("the text part of HTML that is made to grow", () => {
  for (const [what, html] of Object.entries({
    "quotes in quotes": `${"<blockquote>".repeat(90)}${"word ".repeat(100_000)}`,
    "lists in lists": `${"<ul><li>".repeat(45)}${"word ".repeat(100_000)}`,
    "lines in quotes": `${"<blockquote><pre>".repeat(45)}${"a\n".repeat(45_000)}`,
    "hundreds of thousands of lines": `${"<blockquote><pre>".repeat(9)}${"a\n".repeat(400_000)}`,
  })) {
    it(`is a few times as long as ${what}, or is left out`, () => {
      expect((read({ html, text: null }).letter.text ?? "").length).to.be.lessThan(3 * html.length + 1_000_000);
    });
  }

  it("indents what a mail quotes and lists", () => {
    const html = "<blockquote>a<blockquote>b</blockquote></blockquote><ul><li>c<ol><li>d</ol></ul>";
    expect(read({ html, text: null }).letter.text).to.equal("> a\n> \n> > b\n\n * c\n   1. d");
  });
});

describe("the templates of a mailing that is to be accepted", () => {
  const people = (variables: readonly object[]) =>
    variables.map((given, index) => ({ email: `ada${index}@example.com`, variables: { ...given } }));

  it("are tried with the variables of every recipient", async () => {
    const recipients = people([{ name: "Ada" }, {}, { name: "Cy" }, { nmae: "Di" }]);
    const faults = await checkLetters({ ...exampleContent, ...template, text: "Hi {{ name }}", recipients });
    expect(faults.map(({ recipient, fault }) => [recipient, fault.part, fault.message])).to.deep.equal([
      [1, "text", "undefined variable: name"],
      [3, "text", "undefined variable: name"],
    ]);
  });

  it("are tried no longer where one took all the time there is", async () => {
    const text = "{% for i in (1..n) %}{% for j in (1..n) %}{% endfor %}{% endfor %}";
    const recipients = people(Array.from({ length: 1000 }, (_, index) => ({ n: index === 0 ? 1 : 50_000 })));
    expect(await checkLetters({ ...exampleContent, ...template, text, recipients })).to.have.length(1);
  });

  it("are tried piece by piece, with all other work of the process between two pieces, whichever mailings these are of", async () => {
    const [mailings, pieces] = [10, 3];
    const recipients = people(Array.from({ length: pieces }, () => ({ name: "Ada" })));
    let [now, turns, isDone] = [0, 0, false];
    // One recipient takes all the time of a piece.
    performance.now = () => (now += 1000);
    const turn = (): void => {
      turns += 1;
      if (!isDone) setImmediate(turn);
    };
    turn();
    const content = { ...exampleContent, ...template, text: "Hi {{ name }}", recipients };
    try {
      await Promise.all(Array.from({ length: mailings }, () => checkLetters(content)));
    } finally {
      isDone = true;
      Reflect.deleteProperty(performance, "now");
    }
    expect(turns).to.be.at.least(mailings * pieces);
  });
});
