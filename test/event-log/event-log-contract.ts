import { expect } from "chai";
import { v7 as uuid } from "uuid";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { VersionConflict } from "../../src/event-log/log-failures.ts";
import {
  caused,
  jobCancelled,
  jobCompleted,
  jobCreated,
  jobPaused,
  jobStarted,
  recipientSent,
  recipientsClaimed,
} from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { followContract } from "./follow-contract.ts";
import { historyContract } from "./history-contract.ts";
import { watchingContract } from "./watching-contract.ts";

/** What every event log promises. Each test makes a job of its own, so they may share one log. */
export function eventLogContract(open: () => EventLog): void {
  guardContract(open);
  raceContract(open);
  factContract(open);
  historyContract(open);
  followContract(open);
  watchingContract(open);
}

const newJob = (): JobRef => ({ tenant: "default", jobId: uuid() });

function guardContract(open: () => EventLog): void {
  describe("a decision about a job", () => {
    it("is stored when nothing was decided before", async () => {
      const [log, job] = [open(), newJob()];
      const sequence = await log.append(job, [caused(uuid(), jobCreated())], 0);
      expect(sequence).to.be.greaterThan(0);
      expect(await log.lastDecision(job)).to.equal(sequence);
    });

    it("is stored when the last decision still is the one that it was taken on", async () => {
      const [log, job] = [open(), newJob()];
      const created = await log.append(job, [caused(uuid(), jobCreated())], 0);
      const started = await log.append(job, [caused(uuid(), jobStarted())], created);
      expect(started).to.be.greaterThan(created);
      expect((await log.readDecisions(job)).map(({ sequence }) => sequence)).to.deep.equal([created, started]);
    });

    it("is a conflict when another decision was stored meanwhile, and is not stored", async () => {
      const [log, job] = [open(), newJob()];
      const created = await log.append(job, [caused(uuid(), jobCreated())], 0);
      const paused = await log.append(job, [caused(uuid(), jobPaused())], created);
      for (const stale of [0, created, paused + 1]) {
        const failure = await failureOf(log.append(job, [caused(uuid(), jobCancelled())], stale));
        expect(failure).to.be.instanceOf(VersionConflict);
      }
      expect(await log.lastDecision(job)).to.equal(paused);
      expect(await log.readDecisions(job)).to.have.length(2);
    });

    it("is a conflict when it was taken on a decision that there never was", async () => {
      const [log, job] = [open(), newJob()];
      const failure = await failureOf(log.append(job, [caused(uuid(), jobStarted())], 7));
      expect(failure).to.be.instanceOf(VersionConflict);
      expect(await log.readHistory(job)).to.deep.equal([]);
    });

    it("is not disturbed by what happens to the recipients and on the queue", async () => {
      const [log, job] = [open(), newJob()];
      const started = await log.append(job, [caused(uuid(), jobStarted())], 0);
      await log.record(job, [caused(uuid(), recipientSent())]);
      await log.record(job, [caused(uuid(), recipientSent())]);
      expect(await log.lastDecision(job)).to.equal(started);
      expect(await log.append(job, [caused(uuid(), jobCompleted())], started)).to.be.greaterThan(started);
    });
  });
}

function raceContract(open: () => EventLog): void {
  const outcomesOf = async (appends: readonly Promise<number>[]) => {
    const settled = await Promise.allSettled(appends);
    const won = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const lost = settled.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    return { won, lost };
  };

  describe("decisions that race", () => {
    it("have exactly one winner, and only that one is stored", async () => {
      const [log, job] = [open(), newJob()];
      const created = await log.append(job, [caused(uuid(), jobCreated())], 0);
      const rivals = Array.from({ length: 10 }, () => caused(uuid(), jobCancelled()));
      const { won, lost } = await outcomesOf(rivals.map((rival) => log.append(job, [rival], created)));
      expect(won).to.have.length(1);
      expect(lost).to.have.length(9);
      for (const failure of lost) expect(failure).to.be.instanceOf(VersionConflict);
      expect((await log.readDecisions(job)).map(({ sequence }) => sequence)).to.deep.equal([created, ...won]);
    });

    it("have exactly one winner also when they come to bear the same id", async () => {
      const [log, job] = [open(), newJob()];
      const created = await log.append(job, [caused(uuid(), jobCreated())], 0);
      const id = uuid();
      const workers = ["worker-1", "worker-2", "worker-3"];
      const rivals = workers.map((worker) => log.append(job, [caused(id, jobStarted({ worker }))], created));
      const { won, lost } = await outcomesOf(rivals);
      expect(won).to.have.length(1);
      for (const failure of lost) expect(failure).to.be.instanceOf(VersionConflict);
      expect(await log.readDecisions(job)).to.have.length(2);
    });

    it("do not hinder those about other jobs", async () => {
      const log = open();
      const jobs = Array.from({ length: 20 }, newJob);
      const { won } = await outcomesOf(jobs.map((job) => log.append(job, [caused(uuid(), jobCreated())], 0)));
      expect(new Set(won)).to.have.length(20);
    });
  });
}

function factContract(open: () => EventLog): void {
  describe("a fact about a recipient, or a turn on the queue", () => {
    it("is stored once however often it is told", async () => {
      const [log, job] = [open(), newJob()];
      const sent = caused(uuid(), recipientSent());
      const first = await log.record(job, [sent]);
      expect(await log.record(job, [sent])).to.equal(first);
      expect(await Promise.all([log.record(job, [sent]), log.record(job, [sent])])).to.deep.equal([first, first]);
      expect(await log.readHistory(job)).to.have.length(1);
    });

    it("is stored also when the same thing happened again, under an id of its own", async () => {
      const [log, job] = [open(), newJob()];
      await log.record(job, [caused(uuid(), recipientSent())]);
      await log.record(job, [caused(uuid(), recipientSent())]);
      expect(await log.readHistory(job)).to.have.length(2);
    });

    it("needs no decision before it", async () => {
      const [log, job] = [open(), newJob()];
      await log.record(job, [caused(uuid(), recipientsClaimed())]);
      expect(await log.lastDecision(job)).to.equal(0);
      expect(await log.readRecipients(job)).to.have.length(1);
    });

    it("is stored when many are on their way at a time, each once", async () => {
      const [log, job] = [open(), newJob()];
      const facts = Array.from({ length: 300 }, (_, recipient) => caused(uuid(), recipientSent({ recipient })));
      const sequences = await Promise.all(facts.map((fact) => log.record(job, [fact])));
      expect(new Set(sequences)).to.have.length(300);
      const stored = await log.readRecipients(job);
      expect(new Set(stored.map(({ id }) => id))).to.deep.equal(new Set(facts.map(({ id }) => id)));
      expect(stored.map(({ sequence }) => sequence)).to.deep.equal(sequences.toSorted((one, other) => one - other));
    });
  });
}
