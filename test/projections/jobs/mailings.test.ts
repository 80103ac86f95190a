import { hash } from "node:crypto";
import { expect } from "chai";
import { createMailingQueries } from "../../../projections/jobs/mailings/queries.ts";
import { jobsProjector } from "../../../projections/jobs/projector.ts";
import { foldJobView, progressOf } from "../../../src/domain/job/job-view.ts";
import { hasMailingEnded, isNotStarted } from "../../../src/domain/mailing/state.ts";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import { mailingFromLog } from "../../../src/history/mailing-from-log.ts";
import { createPart } from "../../../src/mailings/create-part.ts";
import { chanceOf } from "../../support/chance-of.ts";
import {
  jobCancelled,
  jobCompleted,
  jobStarted,
  now,
  recipientFailed,
  recipientSent,
  recipientSuppressed,
} from "../../support/examples.ts";
import { cause, decide, draftMailing, importInto, people, stateOf } from "../../support/mailings.ts";
import { openReadSide, type ReadSide, tablesOf } from "../../support/read-side.ts";

describe("The mailings of the read model", function () {
  this.timeout(60_000);

  let side: ReadSide;
  beforeEach(async () => {
    side = await openReadSide();
  });
  afterEach(() => side.cleanUp());

  const terms = { by: "key:1", above: null, sha256: (text: string) => hash("sha256", text, "hex") };
  const room = { isLeftForJobs: async () => true };

  /** A mailing of some parts, as far as chance lets it come. */
  async function anyMailing(chance: (below: number) => number): Promise<JobRef> {
    const undoFor = chance(3) === 0 ? 3600 : 0;
    const approval = chance(3) === 0 ? { approval: "required" as const } : {};
    const brakes = chance(2) === 0 ? { rate: 1000, stopWhen: { failureRate: 0.1, after: 1 } } : {};
    const mailing = await draftMailing(side, `tenant${chance(2)}`, { undoFor, ...approval, ...brakes });
    if (chance(4) === 0) await decide(side, mailing, { type: "TestMailing", at: now, jobId: "a-test", recipients: 2 });
    for (let file = 0; file <= chance(4); file += 1) await importInto(side, mailing, people(1 + chance(6), file * 10));
    if (chance(6) === 0) return mailing;
    const scheduledAt = chance(3) === 0 ? "2999-01-01T00:00:00.000Z" : null;
    const starts = async (): Promise<boolean> => {
      await decide(side, mailing, { type: "StartMailing", at: now, scheduledAt, terms });
      const { status, approval: asked } = await stateOf(side, mailing);
      if (status !== "awaiting-approval" || asked === null) return true;
      const decision = chance(3);
      if (decision === 0) return false;
      if (decision === 1) await decide(side, mailing, { type: "RejectMailing", at: now, by: "key:2", reason: "no" });
      else await decide(side, mailing, { type: "ApproveMailing", at: now, by: "key:2", digest: asked.digest });
      return decision === 2;
    };
    if (!(await starts())) return mailing;
    if (undoFor > 0 && chance(3) === 0) {
      await decide(side, mailing, { type: "UndoMailing", at: now, reason: null });
      if (chance(2) === 0 || !(await starts())) return mailing;
    }
    if (undoFor > 0) {
      if (chance(3) === 0) return mailing;
      await decide(side, mailing, { type: "ReleaseMailing", at: "2999-01-01T00:00:00.000Z" });
    }
    const state = await stateOf(side, mailing);
    for (const [number, { jobId, recipients }] of state.parts.entries()) {
      if (chance(4) === 0) break;
      const job = { ...mailing, jobId };
      await createPart({ ...side, room }, mailing, state, number, cause);
      if (chance(5) === 0) continue;
      await side.happens(job, jobStarted());
      for (let recipient = 0; recipient < recipients; recipient += 1) {
        const outcome = [recipientSent, recipientFailed, recipientSuppressed][chance(3)] ?? recipientSent;
        if (chance(5) > 0) await side.happens(job, outcome({ recipient }));
      }
      if (chance(4) === 0) continue;
      await side.happens(job, chance(4) === 0 ? jobCancelled() : jobCompleted());
      const view = foldJobView((await side.log.readHistory(job)).map(({ event }) => event));
      if (view === null) throw new Error("The part has no history.");
      await decide(side, mailing, {
        type: "EndParts",
        at: now,
        parts: [{ part: number, result: "failed", counts: progressOf(view) }],
        retries: 0,
      });
      if ((await stateOf(side, mailing)).stoppedBy !== null) break;
    }
    const { endedAt, parts } = await stateOf(side, mailing);
    if (endedAt !== null && parts.some(({ result }) => result === "failed") && chance(2) === 0) {
      await decide(side, mailing, { type: "RetryMailing", at: now, scope: "failed", reason: null });
    }
    if (chance(5) === 0 && (await stateOf(side, mailing)).status === "started") {
      await decide(side, mailing, { type: chance(2) === 0 ? "PauseMailing" : "CancelMailing", at: now, reason: null });
    }
    return mailing;
  }

  it("count as stopped until they have ended, as parts that run may end before they hear of the stop", async () => {
    side.startProjector(jobsProjector);
    const queries = createMailingQueries(side.db);
    const mailing = await draftMailing(side, "default", { stopWhen: { failureRate: 0.2, after: 3 } });
    for (let file = 0; file < 2; file += 1) await importInto(side, mailing, people(3, file * 10));
    await decide(side, mailing, { type: "StartMailing", at: now, scheduledAt: null });
    const failed = { total: 3, sent: 0, failed: 3, pending: 0, deferred: 0, unknown: 0, suppressed: 0 };
    const end = async (part: number): Promise<void> => {
      const parts = [{ part, result: "failed" as const, counts: failed }];
      await decide(side, mailing, { type: "EndParts", at: now, parts, retries: 0 });
      await side.caughtUp("jobs");
    };
    await end(0);
    expect(await queries.countStopped()).to.equal(1);
    await end(1);
    expect(await queries.countStopped()).to.equal(0);
    expect((await queries.find(mailing)).mailing).to.include({ status: "failed", stoppedBy: null });
  });

  it("are what the log says of each, in lists and alone, also after a rebuild", async () => {
    const chance = chanceOf(4711);
    const runner = side.startProjector(jobsProjector);
    const mailings: JobRef[] = [];
    for (let one = 0; one < 60; one += 1) mailings.push(await anyMailing(chance));
    await side.caughtUp("jobs");
    const queries = createMailingQueries(side.db);
    const statuses = new Set<string>();
    const types = new Set<string>();
    for (const ref of mailings) {
      for (const { event } of await side.log.readMailing(ref)) types.add(event.type);
      const { mailing } = await queries.find(ref);
      const folded = await mailingFromLog(side.log, side.contentStore, ref);
      expect(mailing).to.deep.equal(folded?.mailing);
      const { total, ...others } = mailing?.progress ?? { total: Number.NaN };
      expect(Object.values(others).reduce((sum, count) => sum + count, 0)).to.equal(total);
      statuses.add(mailing?.status ?? "none");
    }
    const states = await Promise.all(mailings.map((ref) => stateOf(side, ref)));
    const count = states.filter(({ stoppedBy }) => stoppedBy !== null).length;
    expect(count).to.be.greaterThan(0);
    expect(await queries.countStopped()).to.equal(count);
    const isOpen = states.map((state) => !isNotStarted(state) && !hasMailingEnded(state));
    const ofTenant = mailings.filter(({ tenant }, one) => isOpen[one] && tenant === "tenant0").length;
    expect(ofTenant).to.be.greaterThan(0);
    expect(await queries.countOpen("tenant0")).to.deep.equal({ ofTenant, ofAll: isOpen.filter(Boolean).length });
    expect([...statuses]).to.include.members(["draft", "awaiting-approval", "scheduled", "processing", "cancelled"]);
    expect([...types]).to.include.members([
      "MailingUndone",
      "MailingReleased",
      "MailingTested",
      "MailingApproved",
      "MailingRejected",
      "MailingRetried",
    ]);

    for (const tenant of ["tenant0", "tenant1"]) {
      const own = mailings.filter((ref) => ref.tenant === tenant).map(({ jobId }) => jobId);
      const listed: string[] = [];
      for (let cursor: number | null = null; ; ) {
        const page = await queries.list(tenant, { page: 1, pageSize: 4, cursor });
        expect(page.total).to.equal(own.length);
        listed.push(...page.mailings.map(({ id }) => id));
        if (page.nextCursor === null) break;
        cursor = Number(page.nextCursor);
      }
      expect(listed).to.deep.equal(own.reverse());
    }

    await runner.stop();
    const live = await tablesOf(side.db, jobsProjector);
    await side.rebuild([jobsProjector]);
    expect(await tablesOf(side.db, jobsProjector)).to.deep.equal(live);
  });
});
