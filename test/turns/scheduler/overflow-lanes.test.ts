import { expect } from "chai";
import { createOverflowLanes } from "../../../src/turns/scheduler/overflow-lanes.ts";
import { queuedTurn } from "../../support/examples.ts";

const turnOf = (tenant: string, jobId: string) => queuedTurn({ tenant, jobId });

describe("the turns of a tenant that wait in a lane", () => {
  it("go into the overflow, but for the first", () => {
    const lanes = createOverflowLanes();
    const places = ["one", "two", "three"].map((jobId) => lanes.place(turnOf("a", jobId)));
    expect(places).to.deep.equal(["lane", "overflow", "overflow"]);
  });

  it("push no other tenant into the overflow, and none in another lane", () => {
    const lanes = createOverflowLanes();
    lanes.place(turnOf("a", "one"));
    expect(lanes.place(turnOf("b", "two"))).to.equal("lane");
    expect(lanes.place({ ...turnOf("a", "three"), priority: "high" })).to.equal("lane");
    expect(lanes.place({ ...turnOf("a", "four"), type: "webhook.deliver" })).to.equal("lane");
  });

  it("wait no longer once something was decided about each", () => {
    const lanes = createOverflowLanes();
    lanes.place(turnOf("a", "one"));
    lanes.place(turnOf("a", "two"));
    lanes.decided({ tenant: "a", jobId: "one" });
    expect(lanes.place(turnOf("a", "three"))).to.equal("overflow");
    for (const jobId of ["two", "three", "never-heard-of"]) lanes.decided({ tenant: "a", jobId });
    expect(lanes.place(turnOf("a", "four"))).to.equal("lane");
  });

  it("keep their place when they are put again, so that each is there once", () => {
    const lanes = createOverflowLanes();
    for (const _ of [1, 2]) {
      expect(lanes.place(turnOf("a", "one"))).to.equal("lane");
      expect(lanes.place(turnOf("a", "two"))).to.equal("overflow");
    }
  });

  it("are forgotten where the waiting jobs are unknown", () => {
    const lanes = createOverflowLanes();
    lanes.place(turnOf("a", "one"));
    lanes.forgetAll();
    expect(lanes.place(turnOf("a", "two"))).to.equal("lane");
  });
});
