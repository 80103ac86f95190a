import { expect } from "chai";
import { Type } from "typebox";
import { checkRequest, closed } from "../../src/schemas/request-schema.ts";

const check = checkRequest(
  Type.Object(
    {
      names: Type.Array(Type.String({ description: "a name" }), { maxItems: 3, description: "up to 3 names" }),
      size: Type.Integer({ description: "a number" }),
    },
    closed,
  ),
);

const faultsIn = (value: unknown) => {
  const checked = check(value);
  return checked.valid ? [] : checked.faults.map(({ pointer }) => pointer);
};

describe("The check of a request", () => {
  it("tells all that is wrong", () => {
    expect(faultsIn({ names: ["a", 1, 2], size: "x", more: 1 })).to.deep.equal([
      "/more",
      "/names/1",
      "/names/2",
      "/size",
    ]);
    expect(faultsIn({ names: ["a"], size: 1 })).to.deep.equal([]);
  });

  it("tells one fault of what could have a million", () => {
    expect(faultsIn({ names: Array(500_000).fill(1), size: "x" })).to.deep.equal(["/names"]);
    expect(faultsIn({ names: [Array(500_000).fill({})], size: 1 })).to.deep.equal(["/names/0"]);
  });
});
