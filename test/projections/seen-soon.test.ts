import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { jobCreated, recipientSent } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { openReadSide, type ReadSide } from "../support/read-side.ts";

/** A transaction at most every 40 ms, and what it takes itself; those of a busy service are 200 ms apart. */
const longestMs = 120;
/** On a busy machine some are late. Where the projection rests too long, hardly any is in time. */
const [enough, events] = [10, 200];

describe("events that come one by one", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
    side.startProjector(jobsProjector);
  });
  after(() => side.cleanUp());

  it("are seen soon after one another", async () => {
    const job = newJob();
    await side.storeContent(job);
    await side.happens(job, jobCreated({ total: events }));
    await side.caughtUp("jobs");
    let inTime = 0;
    for (let recipient = 0; recipient < events && inTime < enough; recipient += 1) {
      const begunAt = performance.now();
      await side.happens(job, recipientSent({ recipient }));
      await side.caughtUp("jobs");
      if (performance.now() - begunAt < longestMs) inTime += 1;
    }
    expect(inTime, `of ${events} events`).to.equal(enough);
  });
});
