import { expect } from "chai";
import { eraseReports } from "../../src/erasure/erase-reports.ts";
import { createSuppressionList } from "../../src/suppressions/suppression-list.ts";
import { emptyOutbox } from "../support/empty-outbox.ts";
import { jobCompleted, jobContentErased, jobCreated, jobStarted, now } from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";
import { createMemorySuppressionStore } from "../support/memory/memory-suppression-store.ts";

describe("a piece of a report that came after the report was erased", () => {
  it("is found and erased by the next erasure of a person whom it names", async () => {
    const ports = {
      log: createMemoryEventLog(),
      contentStore: createMemoryContentStore(),
      results: createMemoryResultStore(),
      outbox: emptyOutbox,
      suppressions: createSuppressionList(createMemorySuppressionStore()),
    };
    const job = newJob();
    const created = jobCreated({ type: "report.export", total: 0 });
    await happen(ports.log, job, [created, jobStarted(), jobCompleted(), jobContentErased()]);
    const bytes = Buffer.from("ada@example.com,sent\n");
    await ports.results.put({ ...job, run: 1 }, 1, { bytes, rows: 1, cursor: "1", isLast: true });
    const cause = { actor: "key:k1", correlationId: null, causationId: null, traceparent: null };
    const request = { reason: "asked for", cause, at: now };
    const ofBob = await eraseReports(ports, job.tenant, { ...request, address: "bob@example.com" });
    expect(ofBob.erased).to.equal(0);
    const ofAda = await eraseReports(ports, job.tenant, { ...request, address: "ada@example.com" });
    expect(ofAda.erased).to.equal(1);
    expect(await ports.results.piecesOf(job)).to.deep.equal([]);
  });
});
