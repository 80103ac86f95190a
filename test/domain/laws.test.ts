import { expect } from "chai";
import fc from "fast-check";
import { jobDecider } from "../../src/domain/job/decider.ts";
import { type EventOfJob, evolveJobView, type JobView, progressOf } from "../../src/domain/job/job-view.ts";
import type { JobState } from "../../src/domain/job/state.ts";
import type { FeedbackCells } from "../../src/domain/recipients/feedback.ts";
import { recipientsInDoubt, recipientsToMail } from "../../src/domain/recipients/ledger.ts";
import { anyHistory, isDecision } from "../support/any-history.ts";
import { completeJob } from "../support/examples.ts";
import { viewOf } from "../support/job-views.ts";
import { runsOf } from "../support/property-runs.ts";

const check = (law: (history: readonly EventOfJob[]) => void): void =>
  fc.assert(fc.property(anyHistory, law), { numRuns: runsOf(500) });

const stateOf = (history: readonly EventOfJob[]): JobState =>
  history.filter(isDecision).reduce(jobDecider.evolve, jobDecider.initialState);

/** Every history that the log once held on the way to this one. */
const prefixesOf = (history: readonly EventOfJob[]): readonly EventOfJob[][] =>
  history.map((_, index) => history.slice(0, index + 1));

describe("any history of a job", () => {
  it("can be folded", () => {
    check((history) => {
      expect(viewOf(...history).ledger.cells).to.have.length(3);
      expect(stateOf(history).status).to.not.equal("absent");
    });
  });

  it("shows what is decided on", () => {
    check((history) => {
      const [view, state] = [viewOf(...history), stateOf(history)];
      const status = view.status === "queued" ? ["pending", "scheduled", "retrying"] : [view.status];
      expect(status).to.include(state.status);
      expect(state).to.include({ run: view.run });
    });
  });

  it("has an end exactly when the job has ended", () => {
    check((history) => {
      const { status, completedAt } = viewOf(...history);
      expect(completedAt !== null).to.equal(["completed", "failed", "cancelled"].includes(status));
    });
  });

  it("is folded to the same when it is cut anywhere, kept as a row of a table, and gone on with", () => {
    check((history) => {
      const whole = viewOf(...history);
      for (const before of prefixesOf(history)) {
        const resumed = history.slice(before.length).reduce(evolveJobView, fromRow(toRow(viewOf(...before))));
        expect(resumed).to.deep.equal(whole);
      }
    });
  });
});

type Row = { readonly view: string; readonly cells: Uint8Array; readonly feedback: FeedbackCells };

const toRow = ({ ledger, feedback, ...view }: JobView): Row => ({
  view: JSON.stringify({ ...view, ledgerRun: ledger.run }),
  cells: Uint8Array.from(ledger.cells),
  feedback: feedback === null ? null : Uint8Array.from(feedback),
});

function fromRow(row: Row): JobView {
  const { ledgerRun, ...view } = JSON.parse(row.view);
  const feedback = row.feedback === null ? null : Uint8Array.from(row.feedback);
  return { ...view, ledger: { run: ledgerRun, cells: Uint8Array.from(row.cells) }, feedback };
}

describe("the recipients of a job, whatever happened to it", () => {
  it("have one state each, so that the counters add up to the total", () => {
    check((history) => {
      const { total, sent, failed, pending, deferred, unknown, suppressed } = progressOf(viewOf(...history));
      expect(total).to.equal(3);
      expect(sent + failed + pending + deferred + unknown + suppressed).to.equal(total);
    });
  });

  it("are never to be mailed and in doubt at once", () => {
    check((history) => {
      const { ledger } = viewOf(...history);
      const inDoubt = recipientsInDoubt(ledger);
      expect(recipientsToMail(ledger).filter((recipient) => inDoubt.includes(recipient))).to.deep.equal([]);
    });
  });

  it("are never to be mailed again once they were sent", () => {
    check((history) => {
      for (const before of prefixesOf(history)) {
        const sent = before.flatMap((event) => (event.type === "RecipientSent" ? [event.data.recipient] : []));
        expect(
          recipientsToMail(viewOf(...before).ledger).filter((recipient) => sent.includes(recipient)),
        ).to.deep.equal([]);
      }
    });
  });
});

describe("a job that was run again as another job", () => {
  it("has failed for good: nothing is decided about it any more, and no worker mails for it", () => {
    check((history) => {
      const requeued = history.findIndex(({ type }) => type === "JobRequeued");
      if (requeued === -1) return;
      expect(history.slice(requeued + 1).filter(isDecision)).to.deep.equal([]);
      expect(stateOf(history)).to.include({ status: "failed", requeuedAs: "the-new-job" });
    });
  });
});

describe("two workers of one job, however their commands interleave", () => {
  const turns = Array.from({ length: 15 }, (_, index) => index + 1).flatMap((run) =>
    [1, 2, 3].map((attempt) => ({ run, attempt })),
  );
  const leases = ["worker-1", "worker-2"].flatMap((worker) => turns.map((turn) => ({ worker, ...turn })));

  /** The workers that could end the attempt now. */
  const holdersIn = (state: JobState) =>
    leases.filter((lease) => {
      const decision = jobDecider.decide(completeJob(lease), state);
      return decision.outcome === "accepted" && decision.events.length > 0;
    });

  it("hold the lease one at a time: the one that started last, and only until the next decision", () => {
    check((history) => {
      for (const before of prefixesOf(history)) {
        const last = before.findLast(isDecision);
        expect(holdersIn(stateOf(before))).to.deep.equal(last?.type === "JobStarted" ? [last.data] : []);
      }
    });
  });
});
