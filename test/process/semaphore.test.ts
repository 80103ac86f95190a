import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { createFairSemaphore, type FairSemaphore } from "../../src/process/semaphore.ts";

describe("a semaphore of several owners", () => {
  let semaphore: FairSemaphore;
  let begun: string[];
  let ends: Map<string, () => void>;

  beforeEach(() => {
    semaphore = createFairSemaphore(3, 2);
    [begun, ends] = [[], new Map()];
  });

  const work = (name: string) => (): Promise<string> => {
    begun.push(name);
    return new Promise((resolve) => ends.set(name, () => resolve(name)));
  };
  const run = (name: string): Promise<string> => semaphore.run(name.slice(0, 1), work(name));
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await pause(0);
  };

  it("begins what waits in its order, but lets no owner have all the room", async () => {
    const running = ["a1", "a2", "a3", "b1", "b2"].map(run);
    await pause(0);
    expect(begun).to.deep.equal(["a1", "a2", "b1"]);
    await end("b1");
    expect(begun.slice(3)).to.deep.equal(["b2"]);
    await end("a1");
    expect(begun.slice(4)).to.deep.equal(["a3"]);
    for (const name of begun) await end(name);
    expect(await Promise.all(running)).to.deep.equal(["a1", "a2", "a3", "b1", "b2"]);
  });

  it("gives up waiting in time, and then keeps no place for that work", async () => {
    void run("a1");
    void run("a2");
    const [inTime, late] = [semaphore.runWithin(10_000, "a", work("a4")), semaphore.runWithin(10, "a", work("a3"))];
    expect(await late).to.equal(null);
    await end("a1");
    await end("a4");
    expect(await inTime).to.equal("a4");
    expect(begun).to.deep.equal(["a1", "a2", "a4"]);
    expect(await Promise.race([run("a5"), pause(20, "running")])).to.equal("running");
    expect(begun.at(-1)).to.equal("a5");
  });

  it("gives the place of work that leaves it early to others, once", async () => {
    let leave = (): void => {};
    const early = semaphore.runWithin(10, "a", (leaveEarly) => {
      leave = leaveEarly;
      return work("a0")();
    });
    void run("a1");
    void run("a2");
    await pause(0);
    expect(begun).to.deep.equal(["a0", "a1"]);
    for (let times = 0; times < 2; times += 1) leave();
    await pause(0);
    await end("a0");
    expect(await early).to.equal("a0");
    void run("a3");
    await pause(0);
    expect(begun).to.deep.equal(["a0", "a1", "a2"]);
  });

  it("takes a place at once, or none", async () => {
    const [one, other] = [semaphore.takeAtOnce("a"), semaphore.takeAtOnce("a")];
    expect([one !== null, other !== null, semaphore.takeAtOnce("a")]).to.deep.equal([true, true, null]);
    void run("a1");
    one?.();
    await pause(0);
    expect(begun).to.deep.equal(["a1"]);
    expect(semaphore.takeAtOnce("a")).to.equal(null);
  });

  it("has its room back after work that fails", async () => {
    const failing = () => Promise.reject(new Error("it fails"));
    for (let times = 0; times < 5; times += 1) {
      const failure = await semaphore.runWithin(10, "a", failing).catch((caught: Error) => caught.message);
      expect(failure).to.equal("it fails");
    }
  });
});
