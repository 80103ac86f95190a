import { expect } from "chai";
import { digestOf, encodeContent } from "../../src/content/encode-content.ts";
import { createMemoryEventLog } from "../../src/event-log/memory-event-log.ts";
import { jobFailed, recipientSent } from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { processing } from "../support/histories.ts";
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
});

type Append = RunningApi["log"]["append"];

const dyingAt =
  (type: string, append: Append): Append =>
  async (job, event, expectedSequence) => {
    if (event.event.type === type) throw new Error("The process is gone.");
    return await append(job, event, expectedSequence);
  };
