import { expect } from "chai";
import { createEndedJobs } from "../../projections/jobs/ended-jobs.ts";
import { createMailingQueries } from "../../projections/jobs/mailings/queries.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { handleMailingCommand } from "../../src/commands/handle-command.ts";
import { createEraser, type ErasurePorts } from "../../src/erasure/complete-erasure.ts";
import { createRetention } from "../../src/erasure/retention.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import type { Listening } from "../../src/event-log/following/active-process.ts";
import { createListening } from "../../src/event-log/following/listener.ts";
import { mailingFromLog } from "../../src/history/mailing-from-log.ts";
import { createMailingListener } from "../../src/mailings/follow-mailings.ts";
import type { PollLoop } from "../../src/process/poll-loop.ts";
import { emptyOutbox } from "../support/empty-outbox.ts";
import { emptySuppressions } from "../support/empty-suppressions.ts";
import { eventually } from "../support/eventually.ts";
import { counts, now } from "../support/examples.ts";
import { cause, decide, draftMailing, importInto, people, stateOf } from "../support/mailings.ts";
import { createMemoryCheckpointStore } from "../support/memory/memory-checkpoint-store.ts";
import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";
import { openReadSide, type ReadSide } from "../support/read-side.ts";

const dayMs = 86_400_000;

describe("Mailings that were kept long enough", function () {
  this.timeout(30_000);

  let side: ReadSide;
  let ports: ErasurePorts;
  let draft: JobRef;
  let ended: JobRef;
  let started: JobRef;
  const begun: { stop(): Promise<void> }[] = [];
  const failures: unknown[] = [];
  const rounds: { readonly jobs: number; readonly mailings: number }[] = [];

  beforeEach(async () => {
    side = await openReadSide();
    rounds.length = 0;
    const others = { results: createMemoryResultStore(), outbox: emptyOutbox, suppressions: emptySuppressions };
    ports = { log: side.log, contentStore: side.contentStore, ...others };
    [draft, ended, started] = [await draftMailing(side), await draftMailing(side), await draftMailing(side)];
    for (const mailing of [draft, ended, started]) await importInto(side, mailing, people(2));
    for (const mailing of [ended, started])
      await decide(side, mailing, { type: "StartMailing", at: now, scheduledAt: null });
    const parts = [{ part: 0, result: "completed" as const, counts: counts({ total: 2, sent: 2 }) }];
    await decide(side, ended, { type: "EndParts", at: now, parts, retries: 0 });
    side.startProjector(jobsProjector);
    await side.caughtUp("jobs");
  });
  afterEach(async () => {
    for (const one of begun.splice(0)) await one.stop();
    await side.cleanUp();
    expect(failures.splice(0)).to.deep.equal([]);
  });

  const retain = (keptMs: number): PollLoop => {
    const endedJobs = createEndedJobs(side.db, createPositions());
    const reports = {
      erased: (erased: { readonly jobs: number; readonly mailings: number }) => rounds.push(erased),
      notErased: (_: unknown, failure: unknown) => failures.push(failure),
      failed: (failure: unknown) => failures.push(failure),
    };
    const retention = createRetention(ports, endedJobs, (work) => work(), { keptMs, everyMs: 20 }, reports);
    begun.push(retention);
    retention.start();
    return retention;
  };
  /** The dead letters of these tests are followed by nobody. */
  const createPositions = (): ReadSide["positions"] => ({
    ...side.positions,
    waitFor: (name, sequence, withinMs) =>
      name === "jobs" ? side.positions.waitFor(name, sequence, withinMs) : Promise.resolve(true),
  });
  const listen = (...listeners: Parameters<typeof createListening>[1][]): void => {
    for (const listener of listeners) {
      const report = (failure: unknown) => failures.push(failure);
      const checkpoints = createMemoryCheckpointStore();
      const listening: Listening = createListening({ log: side.log, checkpoints, report }, listener);
      begun.push(listening);
      listening.start();
    }
  };
  const listed = async () =>
    (await createMailingQueries(side.db).list("default", { page: 1, pageSize: 10, cursor: null })).mailings.map(
      ({ id }) => id,
    );
  const lettersOf = (...mailings: readonly JobRef[]) =>
    Promise.all(mailings.map(async (mailing) => (await side.contentStore.get(mailing)) !== null));

  it("are left alone as long as they are younger", async () => {
    const retention = retain(Date.now() - Date.parse(now) + dayMs);
    await side.caughtUp("jobs");
    await retention.stop();
    expect(rounds).to.deep.equal([]);
    expect(await lettersOf(draft, ended, started)).to.deep.equal([true, true, true]);
    expect(await listed()).to.have.members([draft, ended, started].map(({ jobId }) => jobId));
  });

  it("lose their letters and leave the lists, drafts with all their recipients; one that goes on stays", async () => {
    const [part] = (await stateOf(side, draft)).parts;
    const room = { isLeftForJobs: async () => true };
    listen(createMailingListener({ ...ports, room, report: () => {} }));
    retain(0);
    await eventually(async () => expect(await listed()).to.deep.equal([started.jobId]));
    expect(await lettersOf(draft, ended, started)).to.deep.equal([false, false, true]);
    const unmade = { ...draft, jobId: part?.jobId ?? "" };
    await eventually(async () => expect(await side.contentStore.get(unmade)).to.equal(null));
    expect((await side.log.readDecisions(unmade)).map(({ event }) => event.type)).to.deep.equal(["JobContentErased"]);
    const typesOf = async (ref: JobRef) =>
      (await side.log.readMailing(ref)).slice(-2).map(({ event, actor }) => [event.type, actor]);
    expect(await typesOf(draft)).to.deep.equal([
      ["MailingCancelled", "retention"],
      ["MailingContentErased", "retention"],
    ]);
    expect((await typesOf(ended))[1]).to.deep.equal(["MailingContentErased", "retention"]);
    expect(rounds).to.deep.equal([{ jobs: 0, mailings: 2 }]);
    const fromLog = await mailingFromLog(side.log, side.contentStore, ended);
    expect(fromLog?.mailing).to.deep.include({ status: "completed", subject: null, name: null });
    expect(fromLog?.mailing.progress).to.include({ total: 2, sent: 2 });
    await side.rebuild([jobsProjector]);
    expect(await listed()).to.deep.equal([started.jobId]);
  });

  it("lose their letters also where the process died that decided it", async () => {
    const command = { type: "RetireMailing", at: now, restingBefore: new Date().toISOString(), reason: "retention" };
    await handleMailingCommand(side.log, ended, command as Parameters<typeof handleMailingCommand>[2], cause);
    expect(await lettersOf(ended)).to.deep.equal([true]);
    listen(createEraser(ports));
    await eventually(async () => expect(await lettersOf(ended, started)).to.deep.equal([false, true]));
  });
});
