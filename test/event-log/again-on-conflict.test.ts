import { expect } from "chai";
import { againOnConflict } from "../../src/event-log/again-on-conflict.ts";
import { VersionConflict } from "../../src/event-log/log-failures.ts";
import { failureOf } from "../support/failure-of.ts";

const conflict = new VersionConflict("Another writer was faster.");

describe("a write that is guarded by what was read before", () => {
  let reads: number;
  beforeEach(() => {
    reads = 0;
  });

  /** What others write shows at every read, up to so many entries. */
  const read = (entries: number) => async () => {
    reads += 1;
    return { sequence: Math.min(reads, entries) };
  };

  it("comes again however many others are faster, as long as it reads what they have written", async () => {
    const written = await againOnConflict(read(Number.POSITIVE_INFINITY), async ({ sequence }) => {
      if (sequence < 200) throw conflict;
      return sequence;
    });
    expect(written).to.equal(200);
  });

  it("waits for what shows a moment later", async () => {
    const written = await againOnConflict(read(1), async () => {
      if (reads < 5) throw conflict;
      return "written";
    });
    expect(written).to.equal("written");
  });

  it("ends where nothing new is ever read, as of what only a newer release can read", async () => {
    const failure = await failureOf(againOnConflict(read(1), () => Promise.reject(conflict)));
    expect(failure).to.equal(conflict);
    expect(reads).to.be.below(50);
  });

  it("fails at once for another reason", async () => {
    const failure = await failureOf(againOnConflict(read(1), () => Promise.reject(new Error("The disk is full."))));
    expect(failure.message).to.equal("The disk is full.");
    expect(reads).to.equal(1);
  });
});
