import { expect } from "chai";
import { noCounts } from "../../src/domain/mailing/counts.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import type { TurnDelivery } from "../../src/turns/work-queue.ts";
import { createUnwritten } from "../../src/workers/bookkeeper.ts";
import type { JobWork } from "../../src/workers/job-work.ts";
import { runTurn } from "../../src/workers/run-turn.ts";
import { eventually } from "../support/eventually.ts";
import { queuedTurn } from "../support/examples.ts";
import { justWork, workUntil } from "../support/just-work.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

/** Does nothing, and that at once. */
const doing = (type: string, done: JobRef[]): JobWork =>
  justWork(type, async ({ job }) => {
    done.push(job);
    return { kind: "completed", counts: noCounts };
  });

describe("jobs of several kinds", () => {
  let writeSide: WriteSide;
  let mailServer: TestMailServer;

  beforeEach(async () => {
    [writeSide, mailServer] = await Promise.all([startWriteSide(), startMailServer()]);
    writeSide.startScheduler();
  });
  afterEach(async () => {
    await writeSide.cleanUp();
    await mailServer.stop();
  });

  const createJob = (type: string) => writeSide.createJob([], { type });
  const becomes = (job: JobRef, status: string) =>
    eventually(async () => expect((await writeSide.readView(job)).status).to.equal(status));
  const givenBack: number[] = [];
  const deliver = (job: JobRef): TurnDelivery => ({
    turn: queuedTurn(job),
    putAtMs: 0,
    times: 1,
    acknowledge: () => expect.fail("Acknowledged, it would never come back."),
    keep: () => {},
    giveBack: (delayMs) => void givenBack.push(delayMs),
  });

  it("are each done by the workers of their kind", async () => {
    const [tea, coffee]: [JobRef[], JobRef[]] = [[], []];
    writeSide.startWork(doing("tea.make", tea));
    writeSide.startWork(doing("coffee.make", coffee));
    const jobs = [await createJob("tea.make"), await createJob("coffee.make"), await createJob("tea.make")];
    for (const job of jobs) await becomes(job, "completed");
    expect(tea).to.have.deep.members([jobs[0], jobs[2]]);
    expect(coffee).to.deep.equal([jobs[1]]);
  });

  it("wait untouched where only a newer release knows their kind, and delay no other job", async () => {
    const unknown = await createJob("tea.make");
    await becomes(unknown, "queued");
    writeSide.startWorker(mailServer.url);
    const mailing = await writeSide.createJob(["ada@example.com"]);
    await becomes(mailing, "completed");
    expect((await writeSide.readView(unknown)).status).to.equal("queued");
    const done: JobRef[] = [];
    writeSide.startWork(doing("tea.make", done));
    await becomes(unknown, "completed");
  });

  it("are handed back, not failed, by a worker that is handed one of another kind", async () => {
    const job = await createJob("tea.make");
    await runTurn(deliver(job), {
      log: writeSide.log,
      probe: { answerFor: () => () => {}, ask: async () => "silent" },
      sharing: null,
      worker: "worker-of-mails",
      type: "email.send",
      retrySchedule: { baseDelayMs: 1, factor: 1, jitter: 0, delaysMs: null },
      unwritten: createUnwritten(1),
      postpone: () => 1,
      prepare: async () => expect.fail("It was done by a worker that cannot do it."),
      stopping: new AbortController().signal,
      giveUp: new AbortController().signal,
    });
    expect(givenBack).to.deep.equal([10_000]);
    expect((await writeSide.log.readDecisions(job)).map(({ event }) => event.type)).to.deep.equal(["JobCreated"]);
  });

  it("go on while the mail server is away, and mailings while another kind has no slot left", async () => {
    const [done, endless]: [JobRef[], JobRef[]] = [[], []];
    const mailings = await Promise.all(
      Array.from({ length: 8 }, (_, index) => writeSide.createJob([`p${index}@example.com`])),
    );
    // Fewer than five that wait would be tried by their schedule.
    for (const mailing of mailings) await becomes(mailing, "queued");
    const withoutServer = writeSide.startWorker("smtp://127.0.0.1:1");
    writeSide.startWork(doing("tea.make", done));
    const tea = await createJob("tea.make");
    await becomes(tea, "completed");
    for (const mailing of mailings) expect((await writeSide.readView(mailing)).status).to.equal("queued");

    const until = new AbortController();
    writeSide.startWork(workUntil("coffee.make", until.signal, endless), { concurrency: 1 });
    const coffee = [await createJob("coffee.make"), await createJob("coffee.make")];
    // Which of two jobs that are created at nearly the same moment comes first, nobody promises.
    await eventually(async () => expect(endless).to.have.lengthOf(1));
    const [first] = endless;
    const second = coffee.find(({ jobId }) => jobId !== first?.jobId);
    if (second === undefined) throw new Error("Both jobs have begun.");
    await withoutServer.stop(1000);
    writeSide.startWorker(mailServer.url);
    for (const mailing of mailings) await becomes(mailing, "completed");
    expect(endless).to.have.lengthOf(1);
    expect((await writeSide.readView(second)).status).to.equal("queued");
    until.abort();
    await becomes(second, "completed");
  });
});
