import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { eventually } from "../support/eventually.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

/** The next pull, which would bring it in any case, begins 4.5 s after the first. */
const seenBeforeAskedMs = 1500;

describe("a log in which nothing happens for longer than a server waits", () => {
  let writeSide: WriteSide;

  before(async () => {
    writeSide = await startWriteSide();
  });
  after(() => writeSide.cleanUp());

  // Servers before 2.9.16 do not say that the time of a pull is up. The first event restarts no clock of theirs.
  it("is followed at once when something happens again", async () => {
    const stopping = new AbortController();
    let seen = 0;
    const following = (async () => {
      const options = { afterSequence: 0, maxEvents: 10, signal: stopping.signal };
      for await (const entries of writeSide.log.follow(options)) seen += entries.length;
    })();
    await pause(2800);
    await writeSide.createJob(["ada@example.com"]);
    await eventually(() => expect(seen).to.equal(1), seenBeforeAskedMs);
    await pause(2500);
    await writeSide.createJob(["ada@example.com"]);
    await eventually(() => expect(seen).to.equal(2), seenBeforeAskedMs);
    stopping.abort();
    await following;
  });
});
