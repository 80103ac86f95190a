import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import { isOfJob, type JobRef } from "../../src/event-log/event-log.ts";
import type { Listening } from "../../src/event-log/following/active-process.ts";
import type { CheckpointStore } from "../../src/event-log/following/checkpoint-store.ts";
import { chanceOf } from "../support/chance-of.ts";
import { eventually } from "../support/eventually.ts";
import { counts, now, recipientFailed, recipientSent } from "../support/examples.ts";
import { followMailings } from "../support/mailing-followers.ts";
import { cause, decide, draftMailing, importInto, people, type Stored, stateOf } from "../support/mailings.ts";
import { createMemoryCheckpointStore } from "../support/memory/memory-checkpoint-store.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

const partCount = 30;

describe("The parts of a mailing that is run again", function () {
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

  const follow = (seed: number | null = null, checkpoints: CheckpointStore = createMemoryCheckpointStore()) => {
    const listening = followMailings(stored, checkpoints, seed);
    listenings.push(listening);
    return listening;
  };

  /** Does the jobs that it sees; the first run of every third fails. */
  async function work(failsAlways = false): Promise<void> {
    const { log } = stored;
    let seen = 0;
    const failing = new Set<string>();
    for await (const batch of log.follow({ afterSequence: 0, maxEvents: 50, signal: worker.signal })) {
      for (const entry of batch) {
        if (!isOfJob(entry) || (entry.event.type !== "JobCreated" && entry.event.type !== "JobRetried")) continue;
        const run = entry.event.type === "JobRetried" ? entry.event.data.run : 1;
        if (run === 1 && seen++ % 3 === 0) failing.add(entry.jobId);
        const own = { run, attempt: 1, worker: "worker-1" };
        await handleCommand(log, entry, { type: "StartJob", at: now, ...own, opening: 0 }, cause);
        await pause(2);
        const fails = failing.has(entry.jobId) && (run === 1 || failsAlways);
        const outcome = fails ? recipientFailed({ recipient: 0, run }) : recipientSent({ recipient: 0, run });
        await log.record(entry, [{ ...cause, id: `${entry.jobId}/${run}`, event: outcome }]);
        const command = fails
          ? ({
              type: "FailJob",
              at: now,
              ...own,
              error: { code: "smtp-unavailable", message: "It is away." },
              counts: counts({ total: 1, failed: 1 }),
            } as const)
          : ({ type: "CompleteJob", at: now, ...own, counts: counts({ total: 1, sent: 1 }) } as const);
        await handleCommand(log, entry, command, cause);
      }
    }
  }

  const refs = async (): Promise<readonly JobRef[]> =>
    (await stateOf(stored, mailing)).parts.map(({ jobId }) => ({ ...mailing, jobId }));
  const typesOf = async (job: JobRef) => (await stored.log.readDecisions(job)).map(({ event }) => event.type);
  const start = () => decide(stored, mailing, { type: "StartMailing", at: now, scheduledAt: null });
  const retry = () => decide(stored, mailing, { type: "RetryMailing", at: now, scope: "failed", reason: null });
  const untilEnded = () =>
    eventually(async () => expect((await stateOf(stored, mailing)).endedAt).not.to.equal(null), 30_000);
  const ends = async () =>
    (await stored.log.readMailing(mailing)).flatMap(({ event }) =>
      event.type === "MailingCompleted" ? [event.data] : [],
    );
  const firstEnd = {
    result: "completed-with-failures",
    counts: counts({ total: partCount, sent: (partCount * 2) / 3, failed: partCount / 3 }),
  };
  const lastEnd = { result: "completed", counts: counts({ total: partCount, sent: partCount }) };

  it("are those whose jobs have failed", async () => {
    follow();
    void work();
    await start();
    await untilEnded();
    expect(await ends()).to.deep.equal([firstEnd]);
    await retry();
    await untilEnded();
    expect(await ends()).to.deep.equal([firstEnd, lastEnd]);
    const retried = (await Promise.all((await refs()).map(typesOf))).filter((types) => types.includes("JobRetried"));
    expect(retried.length).to.equal(partCount / 3);
  });

  it("may fail again, and then the mailing has ended as before", async () => {
    follow();
    void work(true);
    await start();
    await untilEnded();
    await retry();
    await eventually(async () => expect(await ends()).to.deep.equal([firstEnd, firstEnd]), 30_000);
  });

  it("stay as they are where a person was faster, and count with what they came to", async () => {
    follow();
    void work();
    await start();
    await untilEnded();
    const failed: JobRef[] = [];
    for (const job of await refs()) if ((await typesOf(job)).includes("JobFailed")) failed.push(job);
    for (const job of failed)
      await handleCommand(stored.log, job, { type: "RetryJob", at: now, scope: "failed", reason: null }, cause);
    await eventually(async () => {
      for (const job of failed) expect((await typesOf(job)).at(-1)).to.equal("JobCompleted");
    });
    await retry();
    await untilEnded();
    expect((await ends()).at(-1)).to.deep.equal(lastEnd);
    for (const job of failed) {
      expect((await typesOf(job)).filter((type) => type === "JobRetried")).to.have.lengthOf(1);
    }
  });

  for (const seed of [1, 2, 3, 4]) {
    it(`run again once, though processes come and go, two believe to be the one, and the log falters (seed ${seed})`, async () => {
      const chance = chanceOf(seed);
      const checkpoints = createMemoryCheckpointStore();
      let current = follow(seed, checkpoints);
      follow(seed + 100);
      void work();
      await start();
      await untilEnded();
      const [first] = await ends();
      expect(first).to.deep.equal(firstEnd);
      await retry();
      for (let stop = 0; stop < 4; stop += 1) {
        await pause(chance(60));
        await current.stop(0);
        current = follow(seed + stop, checkpoints);
      }
      await untilEnded();
      expect(await ends()).to.deep.equal([firstEnd, lastEnd]);
      for (const job of await refs()) {
        const types = await typesOf(job);
        const runs = types.filter((type) => type === "JobRetried").length;
        expect(runs, types.join(" ")).to.equal(types.includes("JobFailed") ? 1 : 0);
      }
    });
  }
});
