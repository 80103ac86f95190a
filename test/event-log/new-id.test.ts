import { expect } from "chai";
import { validate, version } from "uuid";
import { newId } from "../../src/event-log/new-id.ts";

describe("new ids", () => {
  it("are UUIDs of version 7 that sort in the order in which they were made, and of which none comes twice", () => {
    const before = Date.now();
    const ids = Array.from({ length: 2000 }, newId);
    for (const id of ids) expect([validate(id), version(id)], id).to.deep.equal([true, 7]);
    expect(ids.toSorted()).to.deep.equal(ids);
    expect(new Set(ids).size).to.equal(ids.length);
    const millisecond = Number.parseInt((ids[0] ?? "").replace("-", "").slice(0, 12), 16);
    expect(millisecond).to.be.within(before, Date.now());
  });
});
