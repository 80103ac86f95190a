import { expect } from "chai";
import { eraseJob } from "../../src/erasure/erase-job.ts";
import { eraseReports } from "../../src/erasure/erase-reports.ts";
import { Archived } from "../../src/event-log/log-failures.ts";
import { createSuppressionList } from "../../src/suppressions/suppression-list.ts";
import { emptyOutbox } from "../support/empty-outbox.ts";
import { jobCompleted, jobContentErased, jobCreated, jobStarted, now } from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";
import { createMemorySuppressionStore } from "../support/memory/memory-suppression-store.ts";

const cause = { actor: "key:k1", correlationId: null, causationId: null, traceparent: null };
const created = jobCreated({ type: "report.export", total: 0 });
const chunk = { bytes: Buffer.from("ada@example.com,sent\n"), rows: 1, cursor: "1", isLast: true };
const request = { reason: "asked for", cause, at: now };

const portsInMemory = () => ({
  log: createMemoryEventLog(),
  contentStore: createMemoryContentStore(),
  results: createMemoryResultStore(),
  outbox: emptyOutbox,
  suppressions: createSuppressionList(createMemorySuppressionStore()),
});

describe("a report that names a person", () => {
  it("is erased though another one cannot be, and the caller hears of that failure", async () => {
    const [log, broken, other] = [createMemoryEventLog(), newJob(), newJob()];
    const failure = new Archived("log-1-2.waybill", "it is not there");
    const ports = {
      ...portsInMemory(),
      log: {
        ...log,
        readDecisions: (of: typeof broken) =>
          of.jobId === broken.jobId ? Promise.reject(failure) : log.readDecisions(of),
      },
    };
    for (const job of [broken, other]) {
      await happen(log, job, [created, jobStarted(), jobCompleted()]);
      await ports.results.put({ ...job, run: 1 }, 0, chunk);
    }
    const ofAda = await eraseReports(ports, other.tenant, { ...request, address: "ada@example.com" });
    expect(ofAda).to.deep.include({ erased: 1, notEnded: [], failures: [failure] });
    expect(await ports.results.piecesOf(other)).to.deep.equal([]);
    expect(await ports.results.piecesOf(broken)).to.have.length(1);
  });
});

describe("a piece of a report that came after the report was erased", () => {
  it("is found and erased by the next erasure of a person whom it names", async () => {
    const ports = portsInMemory();
    const job = newJob();
    await happen(ports.log, job, [created, jobStarted(), jobCompleted(), jobContentErased()]);
    await ports.results.put({ ...job, run: 1 }, 1, chunk);
    const ofBob = await eraseReports(ports, job.tenant, { ...request, address: "bob@example.com" });
    expect(ofBob.erased).to.equal(0);
    const ofAda = await eraseReports(ports, job.tenant, { ...request, address: "ada@example.com" });
    expect(ofAda.erased).to.equal(1);
    expect(await ports.results.piecesOf(job)).to.deep.equal([]);
  });
});

describe("the file of a job of a kind that only a newer release knows", () => {
  it("is erased with the job: no process of the newer release comes back to it", async () => {
    const ports = portsInMemory();
    const job = newJob();
    await happen(ports.log, job, [jobCreated({ type: "statement.print", total: 0 }), jobStarted(), jobCompleted()]);
    await ports.results.put({ ...job, run: 1 }, 0, chunk);
    await eraseJob(ports, job, { ...request, isRetired: true });
    expect(await ports.results.piecesOf(job)).to.deep.equal([]);
  });
});
