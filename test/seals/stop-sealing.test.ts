import { expect } from "chai";
import { createSealPublisher } from "../../src/seals/publish-seals.ts";
import { runSealer } from "../../src/seals/run-sealer.ts";

const never = new Promise<never>(() => {});

describe("A process that stops while NATS or a destination of seals does not answer", () => {
  it("waits for the seal only so long, and says nothing of it", async () => {
    const reported: unknown[] = [];
    const report = (failure: unknown) => reported.push(failure);
    const running = runSealer(
      { sealWhatIsDue: () => never, sealNow: () => never },
      { away: report, rolledBack: report },
    );
    await running.stop(10);
    expect(reported).to.deep.equal([]);
  });

  it("waits for the destination only so long, and says nothing of it", async () => {
    const reported: unknown[] = [];
    const destination = { name: "slow", position: () => never, publish: () => never };
    const publisher = createSealPublisher({} as never, [destination], (failure) => reported.push(failure));
    publisher.start();
    await publisher.stop(10);
    expect(reported).to.deep.equal([]);
  });
});
