import { expect } from "chai";
import type { RecipientEvent } from "../../src/domain/recipients/events.ts";
import type { Bookkeeper } from "../../src/workers/bookkeeper.ts";
import { createLeavingOut } from "../../src/workers/leave-out.ts";
import { recipientDeferred, recipientSent, recipientsClaimed } from "../support/examples.ts";
import { ledgerOf, statesOf } from "../support/ledgers.ts";

describe("a worker that took over recipients in doubt, whose former worker wakes and records outcomes", () => {
  const claimed = recipientsClaimed({ worker: "frozen", recipients: [0, 1] });
  const patience = new AbortController().signal;
  let now = 0;
  let recorded: RecipientEvent[] = [];
  let reads = 0;
  let whileReading: () => void = () => {};

  beforeEach(() => {
    [now, recorded, reads] = [0, [claimed], 0];
    whileReading = () => {};
    Object.defineProperty(performance, "now", { configurable: true, value: () => now });
  });

  afterEach(() => {
    Reflect.deleteProperty(performance, "now");
  });

  const takeOver = () => {
    const ledger = ledgerOf(claimed);
    const readLedger = async () => {
      reads += 1;
      const read = ledgerOf(...recorded);
      whileReading();
      return read;
    };
    const leavingOut = createLeavingOut(
      { ledger, readLedger, confirmedAt: now },
      {} as Bookkeeper,
      undefined,
      patience,
    );
    return { ledger, leavingOut };
  };

  it("serves no recipient again whose outcome is in the log by now, and counts it", async () => {
    const { ledger, leavingOut } = takeOver();
    recorded.push(recipientSent({ recipient: 0 }));
    now += 1100;
    expect(await leavingOut.sift([0, 1, 2])).to.deep.equal([1, 2]);
    expect(leavingOut.isLeftOut(0)).to.equal(true);
    expect(statesOf(ledger)).to.deep.equal(["sent", "claimed", "pending"]);
  });

  it("serves one that was only deferred", async () => {
    const { ledger, leavingOut } = takeOver();
    recorded.push(recipientDeferred({ recipient: 0 }));
    now += 1100;
    expect(await leavingOut.sift([0])).to.deep.equal([0]);
    expect(statesOf(ledger)).to.deep.equal(["claimed", "claimed", "pending"]);
  });

  it("reads the log again only for those in doubt, and for several at a time once a second at most", async () => {
    const { leavingOut } = takeOver();
    now += 900;
    await leavingOut.sift([0]);
    now += 200;
    await leavingOut.sift([2]);
    expect(reads).to.equal(0);
    await Promise.all([leavingOut.sift([0]), leavingOut.sift([1])]);
    now += 900;
    await leavingOut.sift([0]);
    expect(reads).to.equal(1);
  });

  it("reads the log once more where the answer took its time: the worker may have been frozen before it came", async () => {
    const { leavingOut } = takeOver();
    now += 1100;
    whileReading = () => {
      recorded.push(recipientSent({ recipient: 0 }));
      now += 45_000;
      whileReading = () => {};
    };
    expect(await leavingOut.sift([0])).to.deep.equal([]);
  });

  it("goes on with a log that never answers in time", async () => {
    const { leavingOut } = takeOver();
    now += 1100;
    whileReading = () => {
      now += 1100;
    };
    expect(await leavingOut.sift([0])).to.deep.equal([0]);
    expect(await leavingOut.sift([0])).to.deep.equal([0]);
    expect(reads).to.equal(2);
  });
});
