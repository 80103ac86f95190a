import { expect } from "chai";
import { createPostponing } from "../../src/workers/postponing.ts";
import { queuedTurn } from "../support/examples.ts";

const ofShop = queuedTurn({ tenant: "shop" });

describe("A turn whose job cannot begin yet", () => {
  it("is looked at again soon at first, and then ever later, up to a quarter of a minute", () => {
    expect(createPostponing()(1, ofShop)).to.be.within(1500, 2000);
    expect(createPostponing()(3, ofShop)).to.be.within(6000, 8000);
    expect(createPostponing()(50, ofShop)).to.be.within(11_250, 15_000);
  });

  it("waits the longer, the more wait with it, so that a worker looks at a hundred a second at most", () => {
    const postpone = createPostponing();
    for (let turn = 0; turn < 999; turn += 1) postpone(1, ofShop);
    expect(postpone(1, ofShop)).to.equal(10_000);
  });

  it("is dropped where it would wait for too long, because so many wait with it", () => {
    const postpone = createPostponing();
    const waits = Array.from({ length: 1600 }, () => postpone(1, ofShop));
    expect(waits.indexOf(null)).to.equal(1500);
    expect(new Set(waits.slice(1500))).to.deep.equal(new Set([null]));
  });

  it("waits no longer for the turns of other tenants, or priorities, than it has to, so that a worker looks at no more together", () => {
    const postpone = createPostponing();
    for (let turn = 0; turn < 700; turn += 1) postpone(1, ofShop);
    expect(postpone(1, queuedTurn({ tenant: "bakery" }))).to.be.within(1500, 2000);
    expect(postpone(1, ofShop)).to.equal(14_020);
    expect(postpone(1, { ...ofShop, priority: "high" })).to.be.within(1500, 2000);
    expect(postpone(1, ofShop)).to.equal(null);
  });
});
