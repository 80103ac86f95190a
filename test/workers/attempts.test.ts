import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import type { RetryScope } from "../../src/domain/job/events.ts";
import { type JobStatus, type JobView, progressOf } from "../../src/domain/job/job-view.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import type { Worker } from "../../src/workers/worker.ts";
import { eventually } from "../support/eventually.ts";
import { counts, jobFailed, jobStarted, now, recipientUnknown } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };
const later = { code: 451, text: "4.7.1 try again later" };

describe("a mailing that takes more than one attempt", () => {
  let writeSide: WriteSide;
  let server: TestMailServer;
  let worker: Worker;

  before(async () => {
    [writeSide, server] = await Promise.all([startWriteSide(), startMailServer()]);
    writeSide.startScheduler();
    worker = writeSide.startWorker(server.url);
  });

  after(async () => {
    await writeSide.cleanUp();
    await server.stop();
  });

  beforeEach(() => server.forgetMails());

  const once = (job: JobRef, status: JobStatus): Promise<JobView> =>
    eventually(async () => {
      const view = await writeSide.readView(job);
      expect(view.status).to.equal(status);
      return view;
    });

  /** What the scheduler does when the time has come. */
  const beginNextAttempt = (job: JobRef): Promise<void> => writeSide.putTurn(job);

  const received = (): string[] => server.mails.flatMap(({ to }) => to).sort();

  it("retries deferred recipients, and none that was sent", async () => {
    server.answerRecipient("full@example.com", later);
    const job = await writeSide.createJob(["ada@example.com", "full@example.com"]);
    const waiting = await once(job, "retrying");
    expect(progressOf(waiting)).to.include({ sent: 1, deferred: 1, failed: 0 });
    expect(waiting.error?.code).to.equal("recipients-deferred");

    server.answerRecipient("full@example.com", null);
    await beginNextAttempt(job);
    const view = await once(job, "completed");
    expect(view).to.include({ attempt: 2, error: null });
    expect(progressOf(view)).to.include({ sent: 2, deferred: 0 });
    expect(received()).to.deep.equal(["ada@example.com", "full@example.com"]);
  });

  const errorsOf = async (job: JobRef): Promise<readonly string[]> =>
    (await writeSide.log.readRecipients(job)).flatMap(({ event }) =>
      event.type === "RecipientFailed" ? [event.data.error.code] : [],
    );

  it("counts recipients that its last attempt leaves over as failed, and fails if they are more than half", async () => {
    server.answerRecipient("never@example.com", later);
    const most = await writeSide.createJob(["ada@example.com", "bob@example.com", "never@example.com"], {
      maxAttempts: 1,
    });
    expect(progressOf(await once(most, "completed"))).to.include({ sent: 2, failed: 1, deferred: 0 });
    expect(await errorsOf(most)).to.deep.equal(["attempts-exhausted"]);
    const none = await writeSide.createJob(["never@example.com"], { maxAttempts: 1 });
    expect((await once(none, "failed")).error?.code).to.equal("too-many-failures");

    server.answerRecipient("never@example.com", null);
    await handleCommand(writeSide.log, none, { type: "RetryJob", at: now, scope: "failed", reason: null }, cause);
    const view = await once(none, "completed");
    expect(view).to.include({ run: 2, attempt: 1 });
    expect(progressOf(view)).to.include({ sent: 1, failed: 0 });
    expect(received()).to.deep.equal(["ada@example.com", "bob@example.com", "never@example.com"]);
  });

  it("leaves over the one at whose mail the server breaks the connection each time, and mails the others once", async () => {
    server.hangUpOn("broken@example.com");
    const others = ["ada@example.com", "bob@example.com"];
    const job = await writeSide.createJob(["broken@example.com", ...others], { maxAttempts: 2 });
    await once(job, "retrying");
    await beginNextAttempt(job);
    expect(progressOf(await once(job, "completed"))).to.include({ sent: 2, failed: 1 });
    expect(await errorsOf(job)).to.deep.equal(["attempts-exhausted"]);
    expect(received()).to.deep.equal(others);
  });

  it("has patience with deferred recipients apart from its attempts, until their time is up", async () => {
    server.answerRecipient("grey@example.com", later);
    const deferForMs = 4000;
    const job = await writeSide.createJob(["ada@example.com", "grey@example.com"], { maxAttempts: 1, deferForMs });
    for (const attempt of [1, 2]) {
      const waiting = await eventually(async () => {
        const view = await writeSide.readView(job);
        expect(view).to.include({ status: "retrying", attempt });
        return view;
      });
      const end = Date.parse(waiting.startedAt ?? "") + deferForMs;
      expect(Date.parse(waiting.nextAttemptAt ?? "")).to.be.within(end, end + 1000);
      if (attempt === 2) await pause(Math.max(0, end - Date.now()));
      await beginNextAttempt(job);
    }
    const view = await once(job, "completed");
    expect(view.attempt).to.equal(3);
    expect(progressOf(view)).to.include({ sent: 1, failed: 1, deferred: 0 });
    expect(await errorsOf(job)).to.deep.equal(["deferred-too-long"]);
    expect(received()).to.deep.equal(["ada@example.com"]);
  });

  it("leaves those out that a retry is not about, and mails them with the next one", async () => {
    const people = ["doubtful@example.com", "untried@example.com"];
    const job = await writeSide.createJob(people, { scheduledAt: "2999-01-01T00:00:00.000Z" });
    const left = counts({ total: 2, unknown: 1, pending: 1 });
    await happen(writeSide.log, job, [jobStarted(), recipientUnknown({ recipient: 0 }), jobFailed({ counts: left })]);
    const retry = (scope: RetryScope) =>
      handleCommand(writeSide.log, job, { type: "RetryJob", at: now, scope, reason: null }, cause);
    await retry("unknown");
    expect(progressOf(await once(job, "completed"))).to.include({ sent: 1, pending: 1 });
    expect((await retry("unsent")).outcome).to.equal("accepted");
    await eventually(async () => expect(progressOf(await writeSide.readView(job))).to.include({ sent: 2, pending: 0 }));
    expect(received()).to.deep.equal(people);
  });

  it("tries deferred recipients again after a pause that was longer than their patience", async () => {
    server.answerRecipient("grey@example.com", later);
    const deferForMs = 2000;
    const job = await writeSide.createJob(["grey@example.com"], { maxAttempts: 1, deferForMs });
    await once(job, "retrying");
    const tell = (type: "PauseJob" | "ResumeJob") =>
      handleCommand(writeSide.log, job, { type, at: new Date().toISOString(), reason: null }, cause);
    await tell("PauseJob");
    await pause(deferForMs);
    await tell("ResumeJob");
    const view = await eventually(async () => {
      const seen = await writeSide.readView(job);
      expect(seen.attempt).to.equal(2);
      expect(seen.status).to.not.equal("processing");
      return seen;
    });
    expect(view.status).to.equal("retrying");
    server.answerRecipient("grey@example.com", null);
    await beginNextAttempt(job);
    expect(progressOf(await once(job, "completed"))).to.include({ sent: 1, failed: 0 });
  });

  it("tries a mail without an answer again with the next attempt, under the same Message-ID", async () => {
    server.takeInSilence("silent@example.com");
    const job = await writeSide.createJob(["silent@example.com"]);
    expect(progressOf(await once(job, "retrying"))).to.include({ deferred: 1 });
    server.answerMessage("silent@example.com", null);
    await beginNextAttempt(job);
    await once(job, "completed");
    const ids = [...server.mails, ...server.held].map(({ messageId }) => messageId);
    expect(new Set(ids).size).to.equal(1);
  });

  it("leaves a mail without an answer alone where the job says skip, until it is retried by hand", async () => {
    server.takeInSilence("unsure@example.com");
    const job = await writeSide.createJob(["ada@example.com", "unsure@example.com"], { onUnknown: "skip" });
    const view = await once(job, "completed");
    expect(progressOf(view)).to.include({ sent: 1, unknown: 1 });
    server.answerMessage("unsure@example.com", null);
  });

  const interruptions = {
    "a pause": async (job: JobRef): Promise<void> => {
      const tell = (type: "PauseJob" | "ResumeJob") =>
        handleCommand(writeSide.log, job, { type, at: now, reason: null }, cause);
      await tell("PauseJob");
      server.release();
      await eventually(async () => expect(progressOf(await writeSide.readView(job)).sent).to.equal(4));
      await tell("ResumeJob");
    },
    "a restart of its worker": async (): Promise<void> => {
      const stopped = worker.stop(5000);
      server.release();
      await stopped;
      worker = writeSide.startWorker(server.url);
    },
  };

  for (const [interruption, interrupt] of Object.entries(interruptions)) {
    it(`gives up no recipient that was deferred before and after ${interruption}, where the job says skip`, async () => {
      const others = Array.from({ length: 10 }, (_, index) => `person${index}@example.com`);
      const everybody = ["full@example.com", ...others];
      server.answerRecipient("full@example.com", later);
      server.hold();
      const job = await writeSide.createJob(everybody, { onUnknown: "skip" });
      await eventually(async () => {
        expect(server.held).to.have.lengthOf(4);
        expect(progressOf(await writeSide.readView(job)).deferred).to.equal(1);
      });
      await interrupt(job);
      expect(progressOf(await once(job, "retrying"))).to.include({ sent: 10, deferred: 1, pending: 0 });

      server.answerRecipient("full@example.com", null);
      await beginNextAttempt(job);
      expect(progressOf(await once(job, "completed"))).to.include({ sent: 11, unknown: 0 });
      expect(received()).to.deep.equal(everybody.sort());
    });
  }
});
