import { expect } from "chai";
import { digestOf, encodeContent } from "../../src/content/encode-content.ts";
import { eraseLeftover } from "../../src/erasure/erase-leftovers.ts";
import { jobIdInsteadOf, jobIdOfRequeue } from "../../src/intake/derived-job-id.ts";
import { emptyOutbox } from "../support/empty-outbox.ts";
import { emptySuppressions } from "../support/empty-suppressions.ts";
import { jobFailed, now, recipientSent } from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { processing } from "../support/histories.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";
import { exampleJobContent } from "../support/read-side.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

describe("A process that dies between the decision to run a job again and the new job", () => {
  it("leaves a decision, of which the same request makes the one new job", async () => {
    const log = createMemoryEventLog();
    const broken = { ...log, append: dyingAt("JobCreated", log.append) };
    const dying = await startApi({ log: broken });
    const job = newJob();
    await dying.contentStore.put(job, encodeContent(exampleJobContent));
    await happen(log, job, [...processing(), recipientSent(), jobFailed()]);
    const path = `/api/dead-letters/${job.jobId}.1/requeue`;
    expect((await dying.ask("POST", path)).status).to.equal(500);
    expect((await log.readDecisions(job)).at(-1)?.event.type).to.equal("JobRequeued");
    await dying.close();

    const api = await startApi({ log, contentStore: dying.contentStore });
    // Known too late for the content that is stored already, which stands.
    await happen(log, job, [recipientSent({ recipient: 1 })]);
    const { status, body } = await api.ask("POST", path);
    expect(status).to.equal(201);
    expect((await log.readDecisions(job)).filter(({ event }) => event.type === "JobRequeued")).to.have.length(1);
    const decision = (await log.readDecisions({ ...job, jobId: body.jobId }))[0];
    expect(decision?.event.data).to.include({ total: 2, requeueOf: job.jobId });
    const stored = await api.contentStore.get({ ...job, jobId: body.jobId });
    expect(decision?.event.data).to.include({ contentSha256: digestOf(stored ?? "") });
    await api.close();
  });

  it("leaves a decision, of which another new job is made where what was stored for the first was swept", async () => {
    const log = createMemoryEventLog();
    const dying = await startApi({ log: { ...log, append: dyingAt("JobCreated", log.append) } });
    const job = newJob();
    await dying.contentStore.put(job, encodeContent(exampleJobContent));
    await happen(log, job, [...processing(), jobFailed()]);
    const path = `/api/dead-letters/${job.jobId}.1/requeue`;
    expect((await dying.ask("POST", path)).status).to.equal(500);
    await dying.close();
    const first = { ...job, jobId: jobIdOfRequeue(job, 1) };
    const { contentStore } = dying;
    const ports = {
      log,
      contentStore,
      results: createMemoryResultStore(),
      outbox: emptyOutbox,
      suppressions: emptySuppressions,
    };
    const cause = { actor: "sweeper", correlationId: null, causationId: null, traceparent: null };
    await eraseLeftover(ports, { job: first, attachment: null }, { reason: "left over", cause, at: now });
    expect(await contentStore.get(first)).to.equal(null);

    const api = await startApi({ log, contentStore });
    const answers = [await api.ask("POST", path), await api.ask("POST", path)];
    expect(answers.map(({ status }) => status)).to.deep.equal([201, 201]);
    const [made] = new Set(answers.map(({ body }) => body.jobId));
    expect(made).to.equal(jobIdInsteadOf(first));
    expect(await contentStore.get({ ...job, jobId: made })).not.to.equal(null);
    const requeued = (await log.readDecisions(job)).filter(({ event }) => event.type === "JobRequeued");
    expect(requeued.map(({ event }) => event.data)).to.deep.equal([
      { run: 1, asJobId: first.jobId, reason: null },
      { run: 1, asJobId: made, reason: null },
    ]);
    await api.close();
  });
});

type Append = RunningApi["log"]["append"];

const dyingAt =
  (type: string, append: Append): Append =>
  async (job, entry, expectedSequence) => {
    if (entry[0].event.type === type) throw new Error("The process is gone.");
    return await append(job, entry, expectedSequence);
  };
