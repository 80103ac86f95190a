import { expect } from "chai";
import { readCsv, toCsvLine } from "../../../src/dashboard/ui/reading/csv.ts";
import { readRecipients } from "../../../src/dashboard/ui/reading/recipients.ts";

describe("Recipients as they are pasted", () => {
  it("are addresses, one a line or with commas or semicolons", () => {
    const emails = (text: string) => readRecipients(text).map(({ email }) => email);
    expect(emails("a@x.org\r\n\r\n b@x.org \n")).to.deep.equal(["a@x.org", "b@x.org"]);
    expect(emails("a@x.org, b@x.org;c@x.org")).to.deep.equal(["a@x.org", "b@x.org", "c@x.org"]);
    expect(emails("a@x.org; b@x.org")).to.deep.equal(["a@x.org", "b@x.org"]);
    expect(emails("")).to.deep.equal([]);
  });

  it("are a table whose other columns are variables, but for the name beside the address", () => {
    expect(readRecipients('\uFEFFName;E-Mail;sum\n"Ada; ""Countess""";ada@x.org;"1\n2"\nBob;bob@x.org')).to.deep.equal([
      { email: "ada@x.org", variables: { Name: 'Ada; "Countess"', sum: "1\n2" } },
      { email: "bob@x.org", variables: { Name: "Bob" } },
    ]);
    expect(readRecipients("email,name,sum\nada@x.org, Ada L. ,1\nbob@x.org,,2")).to.deep.equal([
      { email: "ada@x.org", name: "Ada L.", variables: { sum: "1" } },
      { email: "bob@x.org", variables: { name: "", sum: "2" } },
    ]);
    expect(readRecipients("email\na@x.org")).to.deep.equal([{ email: "a@x.org" }]);
  });
});

describe("A line of CSV", () => {
  it("comes back as it was", () => {
    const cells = ["plain", "a,b", 'say "x"', "two\nlines", ""];
    expect(readCsv(`1,2,3,4,5\n${toCsvLine(cells)}`)[1]).to.deep.equal(cells);
  });

  it("is text to a spreadsheet, whatever it begins with", () => {
    for (const start of ["=", "+", "-", "@", "\t"]) expect(toCsvLine([`${start}1`])).to.equal(`'${start}1\r\n`);
  });
});
