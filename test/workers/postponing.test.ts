import { expect } from "chai";
import { createPostponing } from "../../src/workers/postponing.ts";

describe("A turn whose job cannot begin yet", () => {
  it("is looked at again soon at first, and then ever later, up to a quarter of a minute", () => {
    expect(createPostponing()(1, "shop")).to.be.within(1500, 2000);
    expect(createPostponing()(3, "shop")).to.be.within(6000, 8000);
    expect(createPostponing()(50, "shop")).to.be.within(11_250, 15_000);
  });

  it("waits the longer, the more wait with it, so that a worker looks at a hundred a second at most", () => {
    const postpone = createPostponing();
    for (let turn = 0; turn < 19_999; turn += 1) postpone(1, "shop");
    expect(postpone(1, "shop")).to.equal(200_000);
  });

  it("waits no longer for the turns of other tenants than it has to, so that a worker looks at no more together", () => {
    const postpone = createPostponing();
    for (let turn = 0; turn < 19_999; turn += 1) postpone(1, "shop");
    expect(postpone(1, "bakery")).to.be.within(1500, 2000);
    expect(postpone(1, "shop")).to.equal(400_000);
  });
});
