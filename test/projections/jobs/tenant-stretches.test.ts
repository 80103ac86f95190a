import { expect } from "chai";
import { jobsProjector } from "../../../projections/jobs/projector.ts";
import { createTenantStretches } from "../../../projections/jobs/tenant-stretches.ts";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import type { TenantStretches } from "../../../src/event-log/tenant-stretches.ts";
import { jobCreated, recipientSent } from "../../support/examples.ts";
import { happen, newJob } from "../../support/happen.ts";
import { openReadSide, type ReadSide } from "../../support/read-side.ts";

/** Sequences of a block. */
const block = 1024;
const wholeRest = Number.POSITIVE_INFINITY;

describe("Where in the log a tenant has events", () => {
  let side: ReadSide;
  let stretches: TenantStretches;
  let noisy: JobRef;
  /** Of the one tenant that has events at the beginning and in the eleventh block. */
  let rare: { readonly first: number; readonly second: number };
  const noise = (count: number): Promise<number> =>
    happen(
      side.log,
      noisy,
      Array.from({ length: count }, (_, index) => recipientSent({ recipient: index % 3 })),
    );
  const next = async (tenant: string, afterSequence: number) =>
    await stretches.next(tenant, afterSequence, await side.log.state());

  before(async function () {
    this.timeout(60_000);
    side = await openReadSide();
    stretches = createTenantStretches(side.db);
    noisy = newJob("noisy");
    const [one, other] = [newJob("rare"), newJob("rare")];
    for (const job of [noisy, one, other]) await side.storeContent(job);
    await happen(side.log, noisy, [jobCreated()]);
    const first = await happen(side.log, one, [jobCreated()]);
    await noise(10 * block);
    const second = await happen(side.log, other, [jobCreated()]);
    await noise(3 * block);
    rare = { first, second };
    const runner = side.startProjector(jobsProjector);
    await side.caughtUp("jobs");
    await runner.stop();
  });
  after(() => side.cleanUp());

  it("is the block of its next event, and what lies between holds none", async () => {
    expect(await next("rare", 0)).to.deep.equal({ first: 1, last: block - 1 });
    expect(await next("rare", rare.first)).to.deep.equal({ first: rare.first + 1, last: block - 1 });
    const begin = Math.floor(rare.second / block) * block;
    expect(await next("rare", block - 1)).to.deep.equal({ first: begin, last: begin + block - 1 });
  });

  it("is one stretch as long as its events are in every block", async () => {
    expect(await next("noisy", 0)).to.deep.equal({ first: 1, last: wholeRest });
    expect(await next("noisy", 5000)).to.deep.equal({ first: 5001, last: wholeRest });
  });

  it("is not before the end of what the read models have come to, where it has none up to there", async () => {
    const { lastSequence } = await side.log.state();
    expect(await next("nobody", 0)).to.deep.equal({ first: lastSequence + 1, last: wholeRest });
    expect(await next("rare", rare.second + 2 * block)).to.deep.equal({ first: lastSequence + 1, last: wholeRest });
    expect(await next("nobody", lastSequence)).to.deep.equal({ first: lastSequence + 1, last: wholeRest });
  });

  it("is not known of the service, of another log, of rows of another release, and while the database is away", async () => {
    const state = await side.log.state();
    const unknown = { first: 1, last: wholeRest };
    expect(await next("_service", 0)).to.deep.equal(unknown);
    expect(await stretches.next("rare", 0, { ...state, createdAt: "2026-01-01T00:00:00Z" })).to.deep.equal(unknown);
    expect(await stretches.next("rare", 0, { ...state, lastSequence: 5000 })).to.deep.equal(unknown);
    await side.db("jobs_checkpoint").update({ version: jobsProjector.version + 1 });
    expect(await next("rare", 0)).to.deep.equal(unknown);
    await side.db("jobs_checkpoint").update({ version: jobsProjector.version });
    await side.db.schema.renameTable("jobs_blocks", "jobs_blocks_away");
    expect(await next("rare", 0)).to.deep.equal(unknown);
    await side.db.schema.renameTable("jobs_blocks_away", "jobs_blocks");
    expect(await next("rare", 0)).to.deep.equal({ first: 1, last: block - 1 });
  });
});
