import { expect } from "chai";
import { deadLettersProjector } from "../../projections/dead-letters/projector.ts";
import type { FollowOptions } from "../../src/event-log/event-log.ts";
import { caused, jobCreated, recipientSent } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { openReadSide, type ReadSide } from "../support/read-side.ts";

/** No batch of 2,000 events ends exactly where such an entry does. */
const eventsOfEntry = 7;
const batches = 40;
/** Between two batches of a steady stream a projection rests for up to 200 ms: forty rests take eight seconds. */
const longestMs = 7500;

describe("a projection that is far behind", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
  });
  after(() => side.cleanUp());

  /** The outcomes of a job, in entries of seven. */
  const happens = async (total: number): Promise<void> => {
    const job = newJob();
    await side.happens(job, jobCreated({ total }));
    for (let recipient = 0; recipient < total; recipient += eventsOfEntry) {
      const [first, ...others] = Array.from({ length: eventsOfEntry }, (_, index) =>
        caused(`${job.jobId}/${recipient + index}`, recipientSent({ recipient: recipient + index })),
      );
      if (first !== undefined) await side.log.record(job, [first, ...others]);
    }
  };
  const timeToCatchUp = async (log = side.log): Promise<number> => {
    const begunAt = performance.now();
    const runner = side.startProjector(deadLettersProjector, { log });
    await side.caughtUp("dead-letters");
    await runner.stop();
    return performance.now() - begunAt;
  };

  it("does not rest between batches, also where none is filled to the last event", async () => {
    await happens(batches * 2000);
    expect(await timeToCatchUp()).to.be.lessThan(longestMs);
  });

  it("does not rest either where the log is read in smaller pieces, as long as their events are old", async () => {
    await happens(batches * 200);
    const inPieces = {
      ...side.log,
      follow: (options: FollowOptions) => side.log.follow({ ...options, maxEvents: 200 }),
    };
    expect(await timeToCatchUp(inPieces)).to.be.lessThan(longestMs);
  });
});
