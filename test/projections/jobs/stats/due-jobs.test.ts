import { expect } from "chai";
import { jobsProjector } from "../../../../projections/jobs/projector.ts";
import { createStatsQueries } from "../../../../projections/jobs/stats/queries.ts";
import {
  earlier,
  jobCreated,
  jobPaused,
  jobRescheduled,
  jobRetryScheduled,
  jobStarted,
  later,
  now,
} from "../../../support/examples.ts";
import { newJob } from "../../../support/happen.ts";
import { openReadSide, type ReadSide } from "../../../support/read-side.ts";

describe("Jobs whose time has come, and that no worker has taken", () => {
  let side: ReadSide;

  before(async () => {
    side = await openReadSide();
    side.startProjector(jobsProjector);
  });
  after(() => side.cleanUp());

  const waitingAt = async (tenant: string | null, at: string) => {
    await side.caughtUp("jobs");
    return (await createStatsQueries(side.db).read(tenant, at, [60])).waiting.get("normal");
  };

  it("wait since then, and did not before", async () => {
    const [scheduled, put, paused] = [newJob("acme"), newJob("acme"), newJob("acme")];
    await side.happens(scheduled, jobCreated({ scheduledAt: now }));
    await side.happens(put, jobCreated(), jobStarted(), jobRetryScheduled({ nextAttemptAt: later }));
    await side.happens(paused, jobCreated({ scheduledAt: now }), jobPaused());
    for (const tenant of ["acme", null]) {
      expect(await waitingAt(tenant, earlier)).to.deep.equal({ jobs: 0, oldestSince: null });
      expect(await waitingAt(tenant, now)).to.deep.equal({ jobs: 1, oldestSince: now });
      expect(await waitingAt(tenant, later)).to.deep.equal({ jobs: 2, oldestSince: now });
    }
    await side.happens(scheduled, jobStarted());
    expect(await waitingAt("acme", later)).to.deep.equal({ jobs: 1, oldestSince: later });
    await side.happens(put, jobStarted({ attempt: 2 }));
    expect(await waitingAt("acme", later)).to.deep.equal({ jobs: 0, oldestSince: null });
  });

  it("wait from the moment on at which their time was moved to now", async () => {
    const job = newJob("shop");
    await side.happens(job, jobCreated({ scheduledAt: later }), jobRescheduled({ scheduledAt: null }));
    expect(await waitingAt("shop", now)).to.deep.equal({ jobs: 1, oldestSince: now });
  });
});
