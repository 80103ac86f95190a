import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { jobCreated, recipientSent } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { openReadSide, type ReadSide } from "../support/read-side.ts";

const events = 20;
/** A transaction at most every 40 ms, and what it takes itself; those of a busy service are 200 ms apart. */
const longestMs = 120;

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
    const begunAt = performance.now();
    for (let recipient = 0; recipient < events; recipient += 1) {
      await side.happens(job, recipientSent({ recipient }));
      await side.caughtUp("jobs");
    }
    expect((performance.now() - begunAt) / events).to.be.lessThan(longestMs);
  });
});
