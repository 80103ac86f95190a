import { expect } from "chai";
import { createOverflowLanes } from "../../src/scheduler/overflow-lanes.ts";

const turn = { run: 1, attempt: 1, opening: 0, type: "email.send", priority: "normal" } as const;
const jobOf = (tenant: string, jobId: string) => ({ tenant, jobId });

describe("the turns of a tenant that wait in a lane", () => {
  const crowded = (lanes: ReturnType<typeof createOverflowLanes>, tenant: string, jobId: string) =>
    lanes.place(jobOf(tenant, jobId), turn).isCrowded;

  it("are a crowd, but for the first", () => {
    const lanes = createOverflowLanes();
    expect(["one", "two", "three"].map((jobId) => crowded(lanes, "a", jobId))).to.deep.equal([false, true, true]);
  });

  it("crowd no other tenant, and no other lane", () => {
    const lanes = createOverflowLanes();
    lanes.place(jobOf("a", "one"), turn);
    expect(crowded(lanes, "b", "two")).to.equal(false);
    expect(lanes.place(jobOf("a", "three"), { ...turn, priority: "high" }).isCrowded).to.equal(false);
  });

  it("are none any more once something was decided about each", () => {
    const lanes = createOverflowLanes();
    lanes.place(jobOf("a", "one"), turn);
    lanes.queued(jobOf("a", "two"), "queue.normal");
    lanes.decided(jobOf("a", "one"));
    expect(crowded(lanes, "a", "three")).to.equal(true);
    for (const jobId of ["two", "three", "never-heard-of"]) lanes.decided(jobOf("a", jobId));
    expect(crowded(lanes, "a", "four")).to.equal(false);
  });

  it("do not crowd themselves when they are queued twice", () => {
    const lanes = createOverflowLanes();
    expect(crowded(lanes, "a", "one")).to.equal(false);
    expect(crowded(lanes, "a", "one")).to.equal(false);
  });

  it("are forgotten where the waiting jobs are unknown", () => {
    const lanes = createOverflowLanes();
    lanes.place(jobOf("a", "one"), turn);
    lanes.forgetAll();
    expect(crowded(lanes, "a", "two")).to.equal(false);
  });
});
