import { expect } from "chai";
import { parseJson } from "../../src/schemas/parse-json.ts";

const reasonOf = (text: string): string => {
  const json = parseJson(Buffer.from(text));
  return json.parsed ? "" : json.reason;
};

describe("A body that is not JSON", () => {
  for (const [title, text, reason] of [
    ["has a comma too many", '{"a": 1,\n "b": 2,}', "The body is not JSON: the fault is at line 2, column 9."],
    ["lost a quote", '{"a: 1}', "The body is not JSON: it ends too early."],
    ["was cut off by the shell", '{"a": "it', "The body is not JSON: it ends too early."],
    ["was cut off between two fields", '{"a": 1,', "The body is not JSON: it ends too early."],
  ] as const) {
    it(`is refused with the place of the fault where it ${title}`, () => {
      expect(reasonOf(text)).to.include(reason);
    });
  }

  it("is refused without its own words, which may hold a secret", () => {
    expect(reasonOf('{"password": hunter2}')).not.to.include("hunter2");
  });
});
