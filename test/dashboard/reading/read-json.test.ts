import { expect } from "chai";
import { readObject } from "../../../src/dashboard/ui/reading/read-json.ts";

describe("A JSON object that was typed", () => {
  it("is empty where nothing was typed", () => {
    expect(readObject(" \n")).to.deep.equal({ value: {}, fault: null });
    expect(readObject('{"name": "Ada"}')).to.deep.equal({ value: { name: "Ada" }, fault: null });
  });

  it("is refused with what is wrong", () => {
    expect(readObject('{"name": }').fault).to.match(/^This is not JSON: ./);
    for (const text of ["[]", "null", "17", '"text"']) {
      expect(readObject(text), text).to.deep.equal({
        value: null,
        fault: "This is JSON, but no object; expected { … }",
      });
    }
  });
});
