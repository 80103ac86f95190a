import { expect } from "chai";
import { createCrowd } from "../../src/scheduler/crowd.ts";

const turn = { run: 1, attempt: 1, opening: 0, type: "email.send", priority: "normal" } as const;
const jobOf = (tenant: string, jobId: string) => ({ tenant, jobId });

describe("the turns of a tenant that wait in a lane", () => {
  const crowded = (crowd: ReturnType<typeof createCrowd>, tenant: string, jobId: string) =>
    crowd.place(jobOf(tenant, jobId), turn).isCrowded;

  it("are a crowd, but for the first", () => {
    const crowd = createCrowd();
    expect(["one", "two", "three"].map((jobId) => crowded(crowd, "a", jobId))).to.deep.equal([false, true, true]);
  });

  it("crowd no other tenant, and no other lane", () => {
    const crowd = createCrowd();
    crowd.place(jobOf("a", "one"), turn);
    expect(crowded(crowd, "b", "two")).to.equal(false);
    expect(crowd.place(jobOf("a", "three"), { ...turn, priority: "high" }).isCrowded).to.equal(false);
  });

  it("are none any more once something was decided about each", () => {
    const crowd = createCrowd();
    crowd.place(jobOf("a", "one"), turn);
    crowd.queued(jobOf("a", "two"), "queue.normal");
    crowd.decided(jobOf("a", "one"));
    expect(crowded(crowd, "a", "three")).to.equal(true);
    for (const jobId of ["two", "three", "never-heard-of"]) crowd.decided(jobOf("a", jobId));
    expect(crowded(crowd, "a", "four")).to.equal(false);
  });

  it("do not crowd themselves when they are queued twice", () => {
    const crowd = createCrowd();
    expect(crowded(crowd, "a", "one")).to.equal(false);
    expect(crowded(crowd, "a", "one")).to.equal(false);
  });

  it("are forgotten where it cannot be known who still waits", () => {
    const crowd = createCrowd();
    crowd.place(jobOf("a", "one"), turn);
    crowd.forgetAll();
    expect(crowded(crowd, "a", "two")).to.equal(false);
  });
});
