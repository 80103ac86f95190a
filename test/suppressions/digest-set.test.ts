import { createHash } from "node:crypto";
import { expect } from "chai";
import { createDigestSet } from "../../src/suppressions/suppressed-digests.ts";

const digestOf = (text: string): string =>
  createHash("sha256").update(text).digest().subarray(0, 16).toString("base64url");

describe("a set of digests", () => {
  it("has every one that was added, and none that was not, while it grows", () => {
    const set = createDigestSet();
    const digests = Array.from({ length: 20_000 }, (_, index) => digestOf(`in ${index}`));
    for (const digest of digests) set.add(digest);
    expect(set.size()).to.equal(digests.length);
    expect(digests.every(set.mayHave)).to.equal(true);
    const others = Array.from({ length: 20_000 }, (_, index) => digestOf(`out ${index}`));
    expect(others.filter(set.mayHave)).to.deep.equal([]);
  });

  it("counts the same one once", () => {
    const set = createDigestSet();
    for (let times = 0; times < 3; times += 1) set.add(digestOf("ada"));
    expect(set.size()).to.equal(1);
  });

  it("takes nothing for something, also where a digest begins with zeros", () => {
    const zeros = Buffer.alloc(16).toString("base64url");
    const set = createDigestSet();
    expect(set.mayHave(zeros)).to.equal(false);
    set.add(zeros);
    expect([set.mayHave(zeros), set.size()]).to.deep.equal([true, 1]);
  });

  it("tells digests apart that begin alike", () => {
    const set = createDigestSet();
    const like = (last: number): string =>
      Buffer.from([1, 2, 3, 4, 0, 0, 0, last, ...Array(8).fill(0)]).toString("base64url");
    set.add(like(2));
    expect([set.mayHave(like(2)), set.mayHave(like(4))]).to.deep.equal([true, false]);
  });
});
