import { expect } from "chai";
import { createSerially } from "../../../src/event-log/following/serially.ts";

describe("The work on a job", () => {
  it("is done one after the other, that on several jobs at a time, and what fails holds up nothing", async () => {
    const serially = createSerially();
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
    const first = serially(one, note("first", held));
    const failed = serially(one, () => Promise.reject(new Error("NATS is away")));
    const second = serially(one, note("second"));
    expect(await serially(other, note("beside"))).to.equal("beside");
    expect(done).to.deep.equal(["beside"]);
    letGo();
    const [, failure] = await Promise.allSettled([first, failed, second]);
    expect(done).to.deep.equal(["beside", "first", "second"]);
    expect(failure?.status).to.equal("rejected");
  });
});
