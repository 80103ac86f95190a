import { expect } from "chai";
import fc from "fast-check";
import type { Checkpoint } from "../../../../projections/following/checkpoint.ts";
import { projectBatch } from "../../../../projections/following/project-batch.ts";
import { jobsProjector } from "../../../../projections/jobs/projector.ts";
import { createStatsQueries } from "../../../../projections/jobs/stats/queries.ts";
import type { EventOfJob, JobStatus } from "../../../../src/domain/job/job-view.ts";
import { cell } from "../../../../src/domain/recipients/ledger.ts";
import type { StoredEvent } from "../../../../src/event-log/event-log.ts";
import { anyHistory } from "../../../support/any-history.ts";
import { caused, later } from "../../../support/examples.ts";
import { newJob } from "../../../support/happen.ts";
import { viewOf } from "../../../support/job-views.ts";
import { runsOf } from "../../../support/property-runs.ts";
import { openReadSide, type ReadSide } from "../../../support/read-side.ts";

type History = readonly EventOfJob[];

const someHistories = fc.array(anyHistory, { minLength: 1, maxLength: 3 });
const batchSize = fc.integer({ min: 2, max: 30 });

describe("the counts of any histories of some jobs", () => {
  let side: ReadSide;
  let checkpoint: Checkpoint = { sequence: 0, logCreatedAt: "2026-11-21T09:00:00Z", version: jobsProjector.version };
  let tenants = 0;

  before(async () => {
    side = await openReadSide();
  });
  after(() => side.cleanUp());

  const toLog = (histories: readonly History[], tenant: string): readonly StoredEvent[] =>
    histories
      .flatMap((history) => {
        const job = newJob(tenant);
        return history.map((event) => ({ job, event }));
      })
      .map(({ job, event }, index) => {
        const sequence = checkpoint.sequence + index + 1;
        return { ...job, ...caused(`event-${sequence}`, event), sequence, index: 0 };
      });

  /** Of a tenant of their own, so that nothing has to be cleared away between two runs. */
  const countsOf = async (histories: readonly History[], size: number) => {
    tenants += 1;
    const tenant = `tenant-${tenants}`;
    const entries = toLog(histories, tenant);
    const sources = { readContent: async () => null };
    const place = { db: side.db, projector: jobsProjector, suffix: "", sources } as const;
    for (let from = 0; from < entries.length; from += size) {
      checkpoint = await projectBatch(place, checkpoint, entries.slice(from, from + size));
    }
    const { readSequence: _, ...stats } = await createStatsQueries(side.db).read(tenant, later, [60]);
    return stats;
  };

  it("are those of their folds, however the log is cut into batches", async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(someHistories, batchSize, async (histories, size) => {
        const stats = await countsOf(histories, size);
        const views = histories.map((history) => viewOf(...history));
        const statuses = views.map(({ status }) => status);
        const waiting = views.filter((view) => isWaiting(view) || isDue(view));
        expect(new Map([...stats.jobs].filter(([, jobs]) => jobs > 0))).to.deep.equal(countOf(statuses));
        expect(stats.waiting.get("normal")?.jobs).to.equal(waiting.length);
        expect(stats.waiting.get("normal")?.oldestSince !== null).to.equal(waiting.length > 0);
        expect(new Map([...stats.unsent].filter(([, unsent]) => unsent > 0))).to.deep.equal(unsentOf(views));
        const sent = views.flatMap(({ ledger }) => [...ledger.cells]).filter((value) => everSent.includes(value));
        expect(stats.periods[0]?.counts.mails_sent).to.equal(sent.length);
        expect(await countsOf(histories, 1)).to.deep.equal(stats);
      }),
      { numRuns: runsOf(30) },
    );
  });
});

/** A recipient that was sent stays so whatever is retried. */
const everSent: readonly number[] = [cell.sent, cell.failedYetSent, cell.unknownYetSent, cell.suppressedYetSent];

type View = ReturnType<typeof viewOf>;

const isWaiting = ({ status }: View): boolean => status === "pending" || status === "queued";

/** At the time at which the counts are asked for. */
const isDue = ({ status, settings, nextAttemptAt }: View): boolean =>
  (status === "scheduled" && settings.scheduledAt !== null && settings.scheduledAt <= later) ||
  (status === "retrying" && nextAttemptAt !== null && nextAttemptAt <= later);

/** Those that nobody has tried to serve, are being served, or were put off; nobody serves them once the job has ended. */
function unsentOf(views: readonly View[]): ReadonlyMap<JobStatus, number> {
  const unsent = new Map<JobStatus, number>();
  const open: readonly number[] = [cell.pending, cell.claimed, cell.deferred];
  for (const { status, completedAt, ledger } of views) {
    const count = completedAt === null ? ledger.cells.filter((value) => open.includes(value)).length : 0;
    if (count > 0) unsent.set(status, (unsent.get(status) ?? 0) + count);
  }
  return unsent;
}

const countOf = (statuses: readonly JobStatus[]): ReadonlyMap<JobStatus, number> =>
  new Map([...new Set(statuses)].map((status) => [status, statuses.filter((one) => one === status).length]));
