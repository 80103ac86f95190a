import { expect } from "chai";
import type { ContentStore } from "../../src/content/content-store.ts";
import { encodeContent } from "../../src/content/encode-content.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { jobFromLog } from "../../src/history/job-from-log.ts";
import { caused, job, jobFailed, now, recipientFailed, recipientSent, tooManyFailures } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { pending, processing } from "../support/histories.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

describe("A job that no read model has", () => {
  let log: EventLog;
  let contentStore: ContentStore;

  beforeEach(() => {
    log = createMemoryEventLog();
    contentStore = createMemoryContentStore();
  });

  const fold = () => jobFromLog(log, contentStore, job);

  it("is told from its history and its content", async () => {
    const labels = { name: "November", subject: "Your invoice", metadata: { customer: "17" } };
    const parts = { html: null, text: "Hello", from: null, replyTo: null, headers: {}, recipients: [] };
    await contentStore.put(job, encodeContent({ ...labels, ...parts }));
    await happen(log, job, processing());
    await log.record(job, [caused("a", recipientSent({ recipient: 0 }))]);
    await log.record(job, [caused("b", recipientFailed({ recipient: 1 }))]);
    await happen(log, job, [jobFailed()]);
    expect(await fold()).to.deep.equal({
      sequence: 5,
      job: {
        id: job.jobId,
        type: "email.send",
        ...labels,
        status: "failed",
        priority: "normal",
        progress: {
          total: 3,
          sent: 1,
          failed: 1,
          pending: 1,
          deferred: 0,
          unknown: 0,
          suppressed: 0,
          bounced: 0,
          complained: 0,
        },
        attempt: 1,
        maxAttempts: 4,
        createdAt: now,
        scheduledAt: null,
        startedAt: now,
        completedAt: now,
        nextAttemptAt: null,
        error: tooManyFailures,
        requeueOf: null,
        mailingId: null,
      },
    });
  });

  it("is told without its labels once its content was erased", async () => {
    await happen(log, job, pending());
    expect((await fold())?.job).to.deep.include({ status: "queued", name: null, subject: null, metadata: {} });
  });

  it("is none when the log has nothing about it", async () => {
    expect(await fold()).to.equal(null);
  });
});
