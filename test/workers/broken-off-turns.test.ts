import { once } from "node:events";
import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import { progressOf } from "../../src/domain/job/job-view.ts";
import { countRecipients, emptyLedger, recipientsToMail } from "../../src/domain/recipients/ledger.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { deadLetterFromLog } from "../../src/history/dead-letter-from-log.ts";
import type { WorkOfTurn } from "../../src/workers/job-work.ts";
import { eventually } from "../support/eventually.ts";
import { now } from "../support/examples.ts";
import { justWork } from "../support/just-work.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const type = "email.send";
const cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };

const completed: WorkOfTurn = async () => ({ kind: "completed", counts: countRecipients(emptyLedger(1)) });

describe("a turn that breaks off", () => {
  let writeSide: WriteSide;

  beforeEach(async () => {
    writeSide = await startWriteSide();
    writeSide.startScheduler();
  });

  afterEach(() => writeSide.cleanUp());

  const becomes = (job: JobRef, status: string, withinMs?: number) =>
    eventually(async () => {
      const view = await writeSide.readView(job);
      expect(view.status).to.equal(status);
      return view;
    }, withinMs);
  const starts = async (job: JobRef): Promise<number> =>
    (await writeSide.log.readDecisions(job)).filter(({ event }) => event.type === "JobStarted").length;

  it("is taken up again at once, and not only when the queue misses its worker", async () => {
    let calls = 0;
    const work: WorkOfTurn = async (...given) => {
      calls += 1;
      if (calls === 1) throw new Error("once");
      return await completed(...given);
    };
    writeSide.startWork(justWork(type, work));
    const job = await writeSide.createJob(["ada@example.com"]);
    await becomes(job, "completed", 12_000);
    expect(await starts(job)).to.equal(2);
    expect(writeSide.reported.map(String)).to.deep.equal(["Error: once"]);
  });

  it("makes the job fail once five have taken it over, with a dead letter that says why", async () => {
    const mailed: number[] = [];
    const work: WorkOfTurn = async ({ ledger: { cells } }, _lease, books) => {
      mailed.push(cells.length);
      await books.claim([0]);
      throw new Error("each time");
    };
    for (let workers = 0; workers < 2; workers += 1) writeSide.startWork(justWork(type, work), { firstDelayMs: 5 });
    const job = await writeSide.createJob(["ada@example.com", "bob@example.com"]);
    const { error } = await becomes(job, "failed", 20_000);
    expect(error?.code).to.equal("too-many-takeovers");
    expect(await starts(job)).to.equal(6);
    expect(mailed).to.have.lengthOf(6);
    const found = await deadLetterFromLog(writeSide.log, writeSide.contentStore, job, 1);
    expect(found?.letter).to.deep.include({ attempt: 1, error, status: "open" });
    expect(found?.letter.progress).to.include({ total: 2, pending: 2, sent: 0 });

    // By hand it begins anew.
    const retry = { type: "RetryJob", at: now, scope: "unsent", reason: null } as const;
    await handleCommand(writeSide.log, job, retry, cause);
    await eventually(async () => expect(await starts(job)).to.be.at.least(8));
  });

  /** Serves one more recipient each time, while those of `first` stay on their way, and breaks off. */
  const aStepFurther =
    (first: readonly number[]): WorkOfTurn =>
    async ({ ledger }, _lease, books) => {
      const next = recipientsToMail(ledger).find((recipient) => !first.includes(recipient));
      if (next === undefined) return { kind: "completed", counts: countRecipients(ledger) };
      await books.claim([...first, next]);
      await books.outcome({ type: "RecipientSent", recipient: next, messageId: "", response: "250" });
      await books.settled();
      throw new Error("each time");
    };
  const people = (count: number) => Array.from({ length: count }, (_, index) => `person${index}@example.com`);

  it("is taken over as often as it takes while its workers get further", async () => {
    writeSide.startWork(justWork(type, aStepFurther([])), { firstDelayMs: 5 });
    const job = await writeSide.createJob(people(6));
    expect(progressOf(await becomes(job, "completed", 20_000))).to.include({ sent: 6 });
    expect(await starts(job)).to.equal(7);
  });

  it("makes the job fail where one recipient was on its way with each of its workers, however far the others got", async () => {
    writeSide.startWork(justWork(type, aStepFurther([0])), { firstDelayMs: 5 });
    const job = await writeSide.createJob(people(8));
    const { error } = await becomes(job, "failed", 20_000);
    expect(error?.code).to.equal("too-many-takeovers");
    expect(await starts(job)).to.equal(6);
  });

  it("is none where its worker is stopped, however often that happens", async () => {
    const untilStopped: WorkOfTurn = async (_held, _lease, _books, stopping) => {
      if (!stopping.aborted) await once(stopping, "abort");
      return { kind: "interrupted" };
    };
    const job = await writeSide.createJob(["ada@example.com"]);
    for (let restart = 1; restart <= 7; restart += 1) {
      const worker = writeSide.startWork(justWork(type, untilStopped));
      await eventually(async () => expect(await starts(job)).to.equal(restart));
      await worker.stop(5000);
    }
    writeSide.startWork(justWork(type, completed));
    await becomes(job, "completed");
  });
});
