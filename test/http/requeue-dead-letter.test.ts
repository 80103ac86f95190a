import { expect } from "chai";
import { decodeContent, digestOf, encodeContent } from "../../src/content/encode-content.ts";
import type { JobSettings } from "../../src/domain/job/events.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { createPeople } from "../../src/webhooks/people.ts";
import * as example from "../support/examples.ts";
import { later, now } from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { failed, processing } from "../support/histories.ts";
import { exampleJobContent } from "../support/read-side.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

const { jobFailed, jobRetried, recipientFailed, recipientSent, recipientUnknown } = example;

describe("A job that failed, run again as another job", () => {
  let api: RunningApi;
  let isRoomLeft: boolean;
  let job: JobRef;

  beforeEach(async () => {
    isRoomLeft = true;
    api = await startApi({ room: { isLeftForJobs: async () => isRoomLeft } });
    job = newJob();
  });
  afterEach(() => api.close());

  /** Recipient 0 was sent, 1 failed, 2 is unknown. */
  const fail = async (settings: Partial<JobSettings> = {}): Promise<void> => {
    await api.contentStore.put(job, encodeContent(exampleJobContent));
    await happen(api.log, job, [
      ...processing({ contentSha256: digestOf(encodeContent(exampleJobContent)), ...settings }),
      recipientSent(),
      recipientFailed({ recipient: 1 }),
      recipientUnknown({ recipient: 2 }),
      jobFailed(),
    ]);
  };
  const requeue = (body?: unknown, id = `${job.jobId}.1`) =>
    api.ask("POST", `/api/dead-letters/${id}/requeue`, { body });
  const created = async (jobId: string) => (await api.log.readDecisions({ ...job, jobId }))[0];
  const contentOf = async (jobId: string) => {
    const stored = await api.contentStore.get({ ...job, jobId });
    return stored === null ? null : decodeContent(stored);
  };

  it("is answered like the creation of a job", async () => {
    await fail();
    const { status, headers, body } = await requeue();
    expect(status).to.equal(201);
    expect(body).to.deep.equal({ jobId: body.jobId, status: "pending", createdAt: now, duplicates: 0 });
    expect(headers.get("Location")).to.equal(`/api/jobs/${body.jobId}`);
    expect(headers.get("Event-Sequence")).to.equal(String((await created(body.jobId))?.sequence));
    const answered = await api.ask("GET", `/api/jobs/${body.jobId}`);
    expect(answered.body).to.include({ status: "queued", requeueOf: job.jobId, subject: "Your invoice" });
  });

  const failWithAttachment = async (bytes: Buffer): Promise<string> => {
    const sha256 = digestOf("hi");
    const named = { filename: "a.txt", contentType: "text/plain", contentId: null, size: 2, sha256 };
    await api.contentStore.put(job, encodeContent({ ...exampleJobContent, attachments: [named] }));
    if (bytes.length > 0) await api.contentStore.attachments.put(job, sha256, bytes);
    await fail();
    return sha256;
  };

  it("has the attachments of the old one as its own", async () => {
    const sha256 = await failWithAttachment(Buffer.from("hi"));
    const { body } = await requeue();
    const attached = await api.contentStore.attachments.get({ ...job, jobId: body.jobId }, sha256);
    expect(attached?.toString()).to.equal("hi");
  });

  it("is not made where the attachments of the old one are gone", async () => {
    await failWithAttachment(Buffer.alloc(0));
    expect((await requeue()).body).to.include({ code: "content-erased" });
  });

  it("has the settings of the old one, without its times, and names it", async () => {
    await fail({ priority: "low", maxAttempts: 7, scheduledAt: later, notAfter: later, duplicates: 2 });
    const { body } = await requeue();
    const stored = await api.contentStore.get({ ...job, jobId: body.jobId });
    const event = (await created(body.jobId))?.event;
    expect(event?.data).to.deep.equal({
      ...example.settings,
      priority: "low",
      maxAttempts: 7,
      total: 2,
      contentSha256: digestOf(stored ?? ""),
      requeueOf: job.jobId,
    });
  });

  it("is mailed to the recipients not sent, with the old content", async () => {
    await fail();
    const { body } = await requeue();
    const recipients = [{ email: "1@example.com" }, { email: "2@example.com" }];
    expect(await contentOf(body.jobId)).to.deep.equal({ ...exampleJobContent, recipients });
  });

  it("is no part of the mailing that the old one is a part of, also for the webhooks about its recipients", async () => {
    await fail({ mailingId: "mailing-1" });
    const partOfMailing = encodeContent({ ...exampleJobContent, mailingId: "mailing-1" });
    await api.contentStore.rewrite(job, () => partOfMailing);
    const { body } = await requeue();
    const people = createPeople(api.contentStore, api.log);
    expect(await people.find({ ...job, jobId: body.jobId }, 0)).to.deep.equal({
      mailingId: null,
      email: "1@example.com",
    });
    expect(await people.find(job, 0)).to.include({ mailingId: "mailing-1" });
  });

  it("leaves those out whose outcome is unknown when the job asked not to send them again", async () => {
    await fail({ onUnknown: "skip" });
    const { body } = await requeue();
    expect((await contentOf(body.jobId))?.recipients).to.deep.equal([{ email: "1@example.com" }]);
  });

  it("keeps with the old job the new one, the reason and the caller", async () => {
    await fail();
    const { body } = await requeue({ reason: "the mail server is back" });
    const decision = (await api.log.readDecisions(job)).at(-1);
    const data = { run: 1, asJobId: body.jobId, reason: "the mail server is back" };
    expect(decision?.event).to.deep.equal({ type: "JobRequeued", at: now, data });
    expect(decision?.actor).to.equal("anonymous");
    expect(await created(body.jobId)).to.include({ causationId: decision?.id });
  });

  it("is one new job however often it is asked for", async () => {
    await fail();
    const first = await requeue();
    const events = (await api.log.state()).lastSequence;
    const second = await requeue({ reason: "said again" });
    expect([second.status, second.body]).to.deep.equal([201, first.body]);
    expect(second.headers.get("Idempotency-Replayed")).to.equal("true");
    expect((await api.log.state()).lastSequence).to.equal(events);
  });

  it("is one new job when several ask at once", async () => {
    await fail();
    const answers = await Promise.all(Array.from({ length: 5 }, () => requeue()));
    expect(answers.map(({ status }) => status)).to.deep.equal([201, 201, 201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.jobId)).size).to.equal(1);
    expect((await api.log.readDecisions(job)).filter(({ event }) => event.type === "JobRequeued")).to.have.length(1);
  });

  it("is another new job for another run that failed", async () => {
    await fail();
    await happen(api.log, job, [jobRetried(), example.jobStarted({ run: 2 }), jobFailed({ run: 2 })]);
    const ofFirst = await requeue();
    expect([ofFirst.status, ofFirst.body.code]).to.deep.equal([409, "dead-letter-closed"]);
    expect(ofFirst.body.currentStatus).to.equal("retried");
    expect((await requeue({}, `${job.jobId}.2`)).status).to.equal(201);
  });

  it("cannot be retried by hand any more", async () => {
    await fail();
    await requeue();
    const { status, body } = await api.ask("POST", `/api/jobs/${job.jobId}/retry`);
    expect([status, body.code]).to.deep.equal([409, "job-requeued"]);
  });

  it("is refused where no recipient is left, and stays open", async () => {
    await api.contentStore.put(job, encodeContent(exampleJobContent));
    const everybody = [0, 1, 2].map((recipient) => recipientSent({ recipient }));
    await happen(api.log, job, [...processing(), ...everybody, jobFailed()]);
    const { status, body } = await requeue();
    expect([status, body.code]).to.deep.equal([409, "nobody-left"]);
    expect((await api.log.readDecisions(job)).at(-1)?.event.type).to.equal("JobFailed");
  });

  it("is refused where the content was erased, and stays open", async () => {
    await happen(api.log, job, failed());
    const { status, body } = await requeue();
    expect([status, body.code]).to.deep.equal([409, "content-erased"]);
    expect((await api.log.readDecisions(job)).at(-1)?.event.type).to.equal("JobFailed");
  });

  it("is refused while the log has no room for jobs, unless the new job is there already", async () => {
    await fail();
    isRoomLeft = false;
    const refused = await requeue();
    expect([refused.status, refused.body.code]).to.deep.equal([503, "event-log-full"]);
    expect((await api.log.readDecisions(job)).at(-1)?.event.type).to.equal("JobFailed");
    isRoomLeft = true;
    await requeue();
    isRoomLeft = false;
    expect((await requeue()).status).to.equal(201);
  });

  for (const [title, id] of [
    ["of a run that never was", (jobId: string) => `${jobId}.2`],
    ["of a job that never was", () => `${newJob().jobId}.1`],
    ["without a run", (jobId: string) => jobId],
    ["of a run 0", (jobId: string) => `${jobId}.0`],
    ["that is none", () => "17"],
  ] as const) {
    it(`is not found by an id ${title}`, async () => {
      await fail();
      const { status, body } = await requeue({}, id(job.jobId));
      expect([status, body.code]).to.deep.equal([404, "dead-letter-not-found"]);
    });
  }

  it("is refused with every fault of the request", async () => {
    await fail();
    const { status, body } = await requeue({ reason: "a\nb", recipients: [] });
    expect(status).to.equal(400);
    expect(body.errors.map((error: { pointer: string }) => error.pointer)).to.deep.equal(["/reason", "/recipients"]);
  });
});
