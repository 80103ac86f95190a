import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { catchUp } from "../../projections/following/catch-up.ts";
import { readCheckpoint } from "../../projections/following/checkpoint.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { createTables, dropTables } from "../../projections/rebuilding/table-set.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { openReadSide, type ReadSide } from "../support/read-side.ts";

/** Longer than a log is silent where it ends with a gap. */
const waitsMs = 3500;
/** Longer than it takes to find out that it is. */
const waitsForEverMs = 60_000;

describe("catching up with a log", () => {
  let side: ReadSide;

  before(async () => {
    side = await openReadSide();
    await side.mailing();
  });
  after(() => side.cleanUp());

  const caughtUp = async (log: EventLog, alone: EventLog): Promise<number> => {
    const { db } = side;
    await createTables(db, jobsProjector, "__next");
    try {
      const from = await readCheckpoint(db, jobsProjector.name, "__next");
      if (from === null) throw new Error("There is no checkpoint.");
      const place = {
        db,
        projector: jobsProjector,
        suffix: "__next",
        sources: { readContent: async () => null },
      } as const;
      const reached = await catchUp(
        { place, log, alone, from, atLeast: 0, onProgress: () => {} },
        new AbortController().signal,
      );
      return reached.sequence;
    } finally {
      await dropTables(db, jobsProjector, "__next");
    }
  };

  /** As a reader finds it that shares it with another one, and waits for that one in the middle. */
  const withWait = (log: EventLog, forMs = waitsMs): EventLog => ({
    ...log,
    follow: async function* (options) {
      for await (const batch of log.follow({ ...options, maxEvents: 3 })) {
        if (batch[0]?.sequence === 4) await pause(forMs, undefined, { signal: options.signal }).catch(() => {});
        if (options.signal.aborted) return;
        yield batch;
      }
    },
  });

  it("comes to its end, also where a reader waits for others that share it", async () => {
    const { lastSequence } = await side.log.state();
    expect(await caughtUp(withWait(side.log), side.log)).to.equal(lastSequence);
  });

  it("takes for the end what is silent for all", async () => {
    const silent = withWait(side.log, waitsForEverMs);
    const { lastSequence } = await side.log.state();
    expect(await caughtUp(silent, silent)).to.be.within(1, lastSequence - 1);
  });
});
