import { expect } from "chai";
import { encodeContent } from "../../src/content/encode-content.ts";
import { job, jobRequeued, now } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { completed, failed } from "../support/histories.ts";
import { exampleJobContent } from "../support/read-side.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

describe("A dead letter that is set aside", () => {
  let api: RunningApi;

  beforeEach(async () => {
    api = await startApi();
    await api.contentStore.put(job, encodeContent(exampleJobContent));
  });
  afterEach(() => api.close());

  const ignore = (body?: unknown, run = 1) => api.ask("POST", `/api/dead-letters/${job.jobId}.${run}/ignore`, { body });
  const lastDecision = async () => (await api.log.readDecisions(job)).at(-1);

  it("is answered whole, without any read model, and keeps why and by whom", async () => {
    await happen(api.log, job, failed());
    const { status, headers, body } = await ignore({ reason: "the sale is over" });
    expect(status).to.equal(200);
    expect(body).to.include({
      id: `${job.jobId}.1`,
      jobId: job.jobId,
      subject: "Your invoice",
      status: "ignored",
      reason: "the sale is over",
      decidedBy: "anonymous",
      decidedAt: now,
    });
    const decision = await lastDecision();
    expect(headers.get("Event-Sequence")).to.equal(String(decision?.sequence));
    const data = { run: 1, reason: "the sale is over" };
    expect(decision?.event).to.deep.equal({ type: "DeadLetterIgnored", at: now, data });
  });

  it("stays as it was when it is set aside again", async () => {
    await happen(api.log, job, failed());
    await ignore({ reason: "the sale is over" });
    const second = await ignore({ reason: "as I said" });
    expect([second.status, second.body.reason]).to.deep.equal([200, "the sale is over"]);
  });

  it("cannot be set aside once the job was run again as another", async () => {
    await happen(api.log, job, [...failed(), jobRequeued()]);
    const { status, body } = await ignore({ reason: "too late" });
    expect([status, body.code, body.currentStatus]).to.deep.equal([409, "dead-letter-closed", "requeued"]);
  });

  it("is not found where the job did not fail", async () => {
    await happen(api.log, job, completed());
    const { status, body } = await ignore({ reason: "why not" });
    expect([status, body.code]).to.deep.equal([404, "dead-letter-not-found"]);
  });

  for (const [title, body, pointer] of [
    ["no reason", undefined, "/reason"],
    ["an empty reason", { reason: "" }, "/reason"],
    ["a reason of two lines", { reason: "a\nb" }, "/reason"],
    ["an unknown field", { reason: "so", run: 1 }, "/run"],
  ] as const) {
    it(`stays open when the request has ${title}`, async () => {
      await happen(api.log, job, failed());
      const answered = await ignore(body);
      expect(answered.status).to.equal(400);
      expect(answered.body.errors.map((error: { pointer: string }) => error.pointer)).to.deep.equal([pointer]);
      expect((await lastDecision())?.event.type).to.equal("JobFailed");
    });
  }
});
