import { expect } from "chai";
import { createTurnsOfJobs } from "../../src/feedback/turns-of-jobs.ts";

describe("The reports about the mails of a job", () => {
  it("are recorded one after the other, those of several jobs at a time, and one that fails holds up none", async () => {
    const inTurn = createTurnsOfJobs();
    const done: string[] = [];
    const [one, other] = [
      { tenant: "acme", jobId: "one" },
      { tenant: "acme", jobId: "other" },
    ];
    let letGo = (): void => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const note =
      (what: string, wait: Promise<void> = Promise.resolve()) =>
      async () => {
        await wait;
        done.push(what);
        return what;
      };
    const first = inTurn(one, note("first", held));
    const failed = inTurn(one, () => Promise.reject(new Error("NATS is away")));
    const second = inTurn(one, note("second"));
    expect(await inTurn(other, note("beside"))).to.equal("beside");
    expect(done).to.deep.equal(["beside"]);
    letGo();
    const [, failure] = await Promise.allSettled([first, failed, second]);
    expect(done).to.deep.equal(["beside", "first", "second"]);
    expect(failure?.status).to.equal("rejected");
  });
});
