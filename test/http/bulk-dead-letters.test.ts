import { expect } from "chai";
import { deadLettersProjector } from "../../projections/dead-letters/projector.ts";
import { digestOf, encodeContent } from "../../src/content/encode-content.ts";
import type { JobSettings } from "../../src/domain/job/events.ts";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { jobFailed, later, now, recipientFailed, recipientSent, tooManyFailures } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { failed, processing } from "../support/histories.ts";
import { decide, draftMailing } from "../support/mailings.ts";
import { exampleJobContent, openReadSide } from "../support/read-side.ts";

const refusal = "554 5.7.1 not today";
const unknown = "550 5.1.1 no such user";

describe("Many dead letters, decided about in one call", () => {
  let service: ApiWithReadSide;

  /** The jobs whose decisions the API has read, one after the other. */
  let looks: string[];

  beforeEach(async () => {
    looks = [];
    const readSide = await openReadSide();
    const { log } = readSide;
    const watched: EventLog = {
      ...log,
      readDecisions: (job) => {
        looks.push(job.jobId);
        return log.readDecisions(job);
      },
    };
    service = await startApiWithReadSide({ log: watched }, readSide);
    readSide.startProjector(deadLettersProjector);
  });
  afterEach(() => service.close());

  /** Jobs whose recipient 0 was sent; the others were refused with these words. */
  const fail = async (
    words: string,
    count: number,
    { tenant = "default", ...settings }: Partial<JobSettings> & { readonly tenant?: string } = {},
  ): Promise<readonly JobRef[]> => {
    const { readSide } = service;
    const content = encodeContent(exampleJobContent);
    const error = { code: "rejected", message: words, replyCode: 554, statusCode: null };
    const jobs = Array.from({ length: count }, () => newJob(tenant));
    for (const job of jobs) {
      await readSide.contentStore.put(job, content);
      const begin = processing({ contentSha256: digestOf(content), ...settings });
      const refused = [1, 2].map((recipient) => recipientFailed({ recipient, error }));
      await readSide.happens(job, ...begin, recipientSent(), ...refused, jobFailed());
    }
    await readSide.caughtUp("dead-letters");
    return jobs;
  };
  const ask = (method: string, path: string, body?: object) =>
    service.api.ask(method, `/api/dead-letters${path}`, body === undefined ? {} : { body });
  // Examples happen before this.
  const bulk = (body: object) => ask("POST", "/bulk", { asOf: later, ...body });
  const letterOf = ({ jobId }: JobRef) => `${jobId}.1`;
  const typesOf = async (job: JobRef | undefined) =>
    (await service.readSide.log.readDecisions(job as JobRef)).map(({ event }) => event.type);

  it("are listed by what the mail servers said, the most frequent first", async () => {
    await fail(refusal, 2);
    await fail(unknown, 1);
    await fail(unknown, 5, { tenant: "other" });
    const { status, body } = await ask("GET", "/causes?status=open");
    expect(status).to.equal(200);
    expect(body.data.map(({ code, cause, letters }: Record<string, unknown>) => [code, cause, letters])).to.deep.equal([
      [tooManyFailures.code, refusal, 2],
      [tooManyFailures.code, unknown, 1],
    ]);
    const { body: some } = await ask("GET", `?status=open&cause=${encodeURIComponent(unknown)}`);
    expect(some.data.map(({ reply, cause }: Record<string, unknown>) => [reply, cause])).to.deep.equal([
      [unknown, unknown],
    ]);
  });

  it("are requeued by their cause, each as a job of its own, and no others", async () => {
    const [refused, gone] = [await fail(refusal, 3), await fail(unknown, 1)];
    const filter = { code: tooManyFailures.code, cause: refusal };
    const counted = await bulk({ action: "requeue", filter, dryRun: true });
    expect(counted.body).to.include({ matched: 3, asOf: later });
    const { status, body } = await bulk({ action: "requeue", filter, expected: 3, reason: "it is back" });
    expect(status).to.equal(200);
    expect(body.changed.map(({ id }: { id: string }) => id).sort()).to.deep.equal(refused.map(letterOf).sort());
    for (const { jobId } of body.changed) {
      const [created] = await service.readSide.log.readDecisions({ tenant: "default", jobId });
      expect(created?.event).to.have.nested.property("data.total", 2);
    }
    expect((await typesOf(gone[0])).at(-1)).to.equal("JobFailed");
  });

  it("are requeued once where the same call comes twice", async () => {
    const jobs = await fail(refusal, 2);
    const call = { action: "requeue", letters: jobs.map(letterOf) };
    const first = await bulk(call);
    expect(first.body.changed).to.have.length(2);
    const { body } = await bulk(call);
    expect(body).to.deep.include({ changed: [], unchanged: 2, skipped: [] });
    expect((await typesOf(jobs[0])).filter((type) => type === "JobRequeued")).to.have.length(1);
  });

  it("are requeued with as many looks at each as one alone is", async () => {
    const jobs = await fail(refusal, 2);
    const [alone = newJob(), ...many] = jobs;
    const looksAt = async (job: JobRef, requeue: () => Promise<{ readonly status: number }>) => {
      const before = looks.filter((jobId) => jobId === job.jobId).length;
      expect((await requeue()).status).to.be.within(200, 201);
      return looks.filter((jobId) => jobId === job.jobId).length - before;
    };
    const [one = newJob()] = many;
    const ofOne = await looksAt(alone, () => ask("POST", `/${letterOf(alone)}/requeue`, {}));
    expect(await looksAt(one, () => bulk({ action: "requeue", letters: [letterOf(one)] }))).to.equal(ofOne);
  });

  it("are not requeued where they are parts of a mailing that was cancelled", async () => {
    const mailing = await draftMailing(service.readSide);
    await decide(service.readSide, mailing, { type: "CancelMailing", at: now, reason: null });
    const [alone, part] = [await fail(refusal, 1), await fail(refusal, 1, { mailingId: mailing.jobId })].flat();
    const { body } = await bulk({ action: "requeue", filter: { cause: refusal }, expected: 2 });
    expect(body.changed.map(({ id }: { id: string }) => id)).to.deep.equal([letterOf(alone as JobRef)]);
    expect(body.skipped).to.deep.equal([{ id: letterOf(part as JobRef), code: "mailing-has-ended" }]);
    expect((await typesOf(part)).at(-1)).to.equal("JobFailed");
  });

  it("are ignored, for a reason", async () => {
    const jobs = await fail(refusal, 2);
    const call = { action: "ignore", filter: { cause: refusal }, expected: 2 };
    const without = await bulk(call);
    expect([without.status, without.body.errors[0].pointer]).to.deep.equal([400, "/reason"]);
    const { body } = await bulk({ ...call, reason: "an old list" });
    expect(body.changed).to.have.length(2);
    const { body: list } = await ask("GET", "?status=ignored");
    expect(list.data.map(({ reason }: { reason: string }) => reason)).to.deep.equal(["an old list", "an old list"]);
    expect(await typesOf(jobs[0])).to.include("DeadLetterIgnored");
  });

  it("are passed over with the reason where one cannot be requeued", async () => {
    const [whole] = await fail(refusal, 1);
    const bare = newJob();
    await service.readSide.happens(bare, ...failed());
    const letters = [letterOf(whole as JobRef), letterOf(bare), `${newJob().jobId}.1`];
    const { body } = await bulk({ action: "requeue", letters });
    expect(body.changed.map(({ id }: { id: string }) => id)).to.deep.equal([letters[0]]);
    expect(new Map(body.skipped.map(({ id, code }: { id: string; code: string }) => [id, code]))).to.deep.equal(
      new Map([
        [letters[1], "content-erased"],
        [letters[2], "job-not-found"],
      ]),
    );
  });

  it("are not touched where more match than were counted, or without a filter and a list", async () => {
    const [job] = await fail(refusal, 2);
    const more = await bulk({ action: "requeue", filter: { cause: refusal }, expected: 1 });
    expect([more.status, more.body.code]).to.deep.equal([409, "more-than-expected"]);
    const none = await bulk({ action: "requeue" });
    expect([none.status, none.body.errors[0].pointer]).to.deep.equal([400, ""]);
    const odd = await bulk({ action: "requeue", filter: { cause: refusal }, expected: 2, cursor: "x" });
    expect([odd.status, odd.body.errors[0].pointer]).to.deep.equal([400, "/cursor"]);
    expect((await typesOf(job)).at(-1)).to.equal("JobFailed");
  });
});
