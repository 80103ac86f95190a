import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import fc from "fast-check";
import { runPipeline } from "../../src/workers/pipeline.ts";

const small = fc.integer({ min: 1, max: 12 });
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe("a pipeline", () => {
  it("claims every item once before it handles it, and never many more than it claims at a time", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 60 }), small, small, async (count, width, claimSize) => {
        const claimed = new Set<number>();
        const handled: number[] = [];
        let inHand = 0;
        const end = await runPipeline({
          items: numbers(count),
          window: () => width,
          claimSize: () => claimSize,
          mayGoOn: () => true,
          claim: async (group) => {
            await nextTurn();
            for (const item of group) claimed.add(item);
            return true;
          },
          handle: async (item) => {
            inHand += 1;
            expect(claimed.has(item)).to.equal(true);
            expect(inHand).to.be.at.most(width);
            expect(claimed.size - handled.length).to.be.at.most(width + 1.5 * claimSize);
            await nextTurn();
            inHand -= 1;
            handled.push(item);
          },
        });
        expect(end).to.deep.equal({ isComplete: true, unhandled: [] });
        expect(handled.sort((one, other) => one - other)).to.deep.equal(numbers(count));
      }),
      { numRuns: 50 },
    );
  });

  it("handles what is claimed already before the rest, without another claim", async () => {
    const claimed: number[] = [];
    const handled: number[] = [];
    const end = await runPipeline({
      claimed: [1, 2],
      items: [3, 4],
      window: () => 1,
      claimSize: () => 2,
      mayGoOn: () => true,
      claim: async (group) => {
        claimed.push(...group);
        return true;
      },
      handle: async (item) => {
        handled.push(item);
      },
    });
    expect(end).to.deep.equal({ isComplete: true, unhandled: [] });
    expect({ claimed, handled }).to.deep.equal({ claimed: [3, 4], handled: [1, 2, 3, 4] });
  });

  it("stops handling when it may not go on, and says what it had claimed", async () => {
    const handled: number[] = [];
    const end = await runPipeline({
      items: numbers(20),
      window: () => 4,
      claimSize: () => 4,
      mayGoOn: () => handled.length < 6,
      claim: () => nextTurn(true),
      handle: async (item) => {
        handled.push(item);
        await nextTurn();
      },
    });
    expect(end.isComplete).to.equal(false);
    expect(handled.length).to.be.within(6, 9);
    expect(end.unhandled.every((item) => !handled.includes(item))).to.equal(true);
  });

  it("leaves alone what it was told not to claim", async () => {
    const handled: number[] = [];
    let mayGoOn = true;
    const end = await runPipeline({
      items: numbers(20),
      window: () => 4,
      claimSize: () => 4,
      mayGoOn: () => mayGoOn,
      claim: async (group) => {
        mayGoOn = !group.includes(8);
        return mayGoOn;
      },
      handle: async (item) => {
        handled.push(item);
        await nextTurn();
      },
    });
    expect(end.isComplete).to.equal(false);
    expect([...handled, ...end.unhandled].sort((one, other) => one - other)).to.deep.equal(numbers(8));
  });

  it("waits for what is in hand before it rejects with what went wrong", async () => {
    let inHand = 0;
    const running = runPipeline({
      items: numbers(10),
      window: () => 3,
      claimSize: () => 3,
      mayGoOn: () => true,
      claim: () => nextTurn(true),
      handle: async (item) => {
        inHand += 1;
        await nextTurn();
        inHand -= 1;
        if (item === 1) throw new Error("broken");
      },
    });
    const failure = await running.catch((reason: Error) => reason.message);
    expect(failure).to.equal("broken");
    expect(inHand).to.equal(0);
  });

  it("is complete at once where there is nothing to do", async () => {
    const [claim, handle] = [async () => true, async () => {}];
    const end = await runPipeline({
      items: [],
      window: () => 1,
      claimSize: () => 1,
      mayGoOn: () => true,
      claim,
      handle,
    });
    expect(end).to.deep.equal({ isComplete: true, unhandled: [] });
  });
});
