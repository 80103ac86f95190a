import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import { readJob } from "../../src/commands/read-version.ts";
import { hasEnded } from "../../src/domain/job/hold-back.ts";
import { type EventLog, isOfJob, type JobRef } from "../../src/event-log/event-log.ts";
import type { Listening } from "../../src/event-log/following/active-process.ts";
import type { CheckpointStore } from "../../src/event-log/following/checkpoint-store.ts";
import { positionIn } from "../../src/event-log/following/hold-checkpoint.ts";
import { eventually } from "../support/eventually.ts";
import { counts, now, recipientSent } from "../support/examples.ts";
import { followMailings } from "../support/mailing-followers.ts";
import { cause, decide, draftMailing, importInto, people, type Stored, stateOf } from "../support/mailings.ts";
import { createMemoryCheckpointStore } from "../support/memory/memory-checkpoint-store.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

const partCount = 60;

describe("The one that makes the parts of mailings", function () {
  this.timeout(60_000);

  let stored: Stored;
  let mailing: JobRef;
  let worker: AbortController;
  const listenings: Listening[] = [];

  beforeEach(async () => {
    stored = { log: createMemoryEventLog(), contentStore: createMemoryContentStore() };
    mailing = await draftMailing(stored);
    for (let part = 0; part < partCount; part += 1) await importInto(stored, mailing, people(1, part));
    worker = new AbortController();
  });
  afterEach(async () => {
    worker.abort();
    await Promise.all(listenings.splice(0).map((listening) => listening.stop()));
  });

  const listen = (checkpoints: CheckpointStore, seed: number | null): Listening => {
    const listening = followMailings(stored, checkpoints, seed);
    listenings.push(listening);
    return listening;
  };

  /** Does the jobs that it sees, one after the other. */
  async function work(): Promise<void> {
    const { log } = stored;
    const own = { run: 1, attempt: 1, worker: "worker-1" };
    const completed = counts({ total: 1, sent: 1 });
    for await (const batch of log.follow({ afterSequence: 0, maxEvents: 50, signal: worker.signal })) {
      for (const entry of batch) {
        if (!isOfJob(entry) || entry.event.type !== "JobCreated") continue;
        await handleCommand(log, entry, { type: "StartJob", at: now, ...own, opening: 0 }, cause);
        await pause(3);
        await log.record(entry, [{ ...cause, id: `${entry.jobId}/sent`, event: recipientSent({ recipient: 0 }) }]);
        await handleCommand(log, entry, { type: "CompleteJob", at: now, ...own, counts: completed }, cause);
      }
    }
  }

  const typesOf = async (job: JobRef) => (await stored.log.readDecisions(job)).map(({ event }) => event.type);
  const parts = async () =>
    (await stateOf(stored, mailing)).parts.map(({ jobId }): JobRef => ({ tenant: mailing.tenant, jobId }));
  const start = () => decide(stored, mailing, { type: "StartMailing", at: now, scheduledAt: null });
  const untilEnded = (status: string) =>
    eventually(async () => expect((await stateOf(stored, mailing)).status).to.equal(status), 30_000);

  it("keeps so many parts open, and no more", async () => {
    listen(createMemoryCheckpointStore(), null);
    await start();
    await eventually(async () => {
      const made = await Promise.all((await parts()).map(typesOf));
      expect(made.filter((types) => types.length > 0).length).to.equal(20);
    });
  });

  it("records the ends of many parts together, and that of the last at once", async () => {
    listen(createMemoryCheckpointStore(), null);
    void work();
    await start();
    await untilEnded("completed");
    const decisions = (await stored.log.readMailing(mailing)).map(({ event }) => event);
    const ends = decisions.flatMap((event) => (event.type === "MailingPartsEnded" ? [event.data.parts.length] : []));
    expect(ends.reduce((sum, parts) => sum + parts, 0)).to.equal(partCount);
    expect(ends.length).to.be.lessThan(partCount / 4);
  });

  it("is stopped at once while it takes many up, and leaves them to the next one", async () => {
    const checkpoints = createMemoryCheckpointStore();
    const mailings = [mailing];
    while (mailings.length < 60) {
      const other = await draftMailing(stored);
      await importInto(stored, other, people(1, mailings.length));
      mailings.push(other);
    }
    const unfinished = async () => positionIn((await checkpoints.read("mailings"))?.text ?? "")?.unfinished ?? [];
    const first = listen(checkpoints, null);
    for (const one of mailings) await decide(stored, one, { type: "StartMailing", at: now, scheduledAt: null });
    await eventually(async () => expect(await unfinished()).to.have.lengthOf(mailings.length));
    await first.stop();
    let read = 0;
    const readMailing: EventLog["readMailing"] = async (...asked) => {
      read += 1;
      await pause(50);
      return await stored.log.readMailing(...asked);
    };
    const second = followMailings({ ...stored, log: { ...stored.log, readMailing } }, checkpoints, null);
    await eventually(() => expect(read).to.be.above(0));
    await second.stop();
    expect(read).to.be.below(mailings.length);
    expect(await unfinished()).to.have.lengthOf(mailings.length);
  });

  for (const seed of [1, 2, 3]) {
    it(`makes each part once, though two believe to be the one, and the log falters (seed ${seed})`, async () => {
      listen(createMemoryCheckpointStore(), seed);
      listen(createMemoryCheckpointStore(), seed + 100);
      void work();
      await start();
      await untilEnded("completed");
      for (const part of await parts()) {
        expect((await typesOf(part)).filter((type) => type === "JobCreated")).to.have.lengthOf(1);
      }
      const decisions = (await stored.log.readMailing(mailing)).map(({ event }) => event);
      const ends = decisions.flatMap((event) => (event.type === "MailingCompleted" ? [event.data] : []));
      expect(ends).to.deep.equal([{ result: "completed", counts: counts({ total: partCount, sent: partCount }) }]);
    });

    it(`leaves no part open after a cancel, and none that could be made (seed ${seed})`, async () => {
      listen(createMemoryCheckpointStore(), seed);
      listen(createMemoryCheckpointStore(), seed + 100);
      void work();
      await start();
      await eventually(async () => {
        const ended = (await stateOf(stored, mailing)).parts.filter((part) => part.counts !== null);
        expect(ended.length).to.be.greaterThan(seed * 5);
      });
      await decide(stored, mailing, { type: "CancelMailing", at: now, reason: null });
      await eventually(async () => {
        for (const part of await parts()) {
          const { state } = await readJob(stored.log, part);
          if (state.status === "absent") {
            expect(state.isAbandoned).to.equal(true);
            expect(await stored.contentStore.get(part)).to.equal(null);
          } else expect(hasEnded(state), state.status).to.equal(true);
        }
      }, 20_000);
    });
  }

  it("is followed by another process that goes on with what is open", async () => {
    const checkpoints = createMemoryCheckpointStore();
    const first = listen(checkpoints, null);
    await start();
    await eventually(async () => {
      const made = await Promise.all((await parts()).map(typesOf));
      expect(made.filter((types) => types.length > 0).length).to.equal(20);
    });
    // Its checkpoint is behind the start then.
    const { lastSequence } = await stored.log.state();
    await eventually(
      async () => expect((await checkpoints.read("mailings"))?.text).to.include(`:${lastSequence},`),
      10_000,
    );
    await first.stop();
    listen(checkpoints, null);
    void work();
    await untilEnded("completed");
  });
});
