import { expect } from "chai";
import { faultOfVariables } from "../../src/schemas/variables.ts";

describe("The variables of a recipient", () => {
  const faultOf = (json: string): string | null => faultOfVariables(JSON.parse(json));

  it("hold numbers as they were sent", () => {
    for (const json of [
      '{"n":9007199254740991}',
      '{"n":-17.5}',
      '{"n":0.1234567890123456789}',
      '{"n":["12345678901234567890"]}',
    ])
      expect(faultOf(json), json).to.equal(null);
  });

  it("hold none that a mail would show otherwise, or not at all", () => {
    for (const json of [
      '{"n":12345678901234567890}',
      '{"n":{"of":[-9007199254740993]}}',
      '{"n":1e400}',
      '{"n":-1e400}',
    ])
      expect(faultOf(json), json).to.match(/rounded; expected at most 15 digits, or a string$/);
  });
});
