import { expect } from "chai";
import { v7 as uuid } from "uuid";
import { type EventLog, type JobRef, type LogEvent, maxEventsOfEntry } from "../../src/event-log/event-log.ts";
import { caused, jobCreated, recipientSent } from "../support/examples.ts";
import { followFrom, readOn } from "../support/following.ts";
import { storeFacts } from "../support/store-facts.ts";

const newJob = (): JobRef => ({ tenant: "default", jobId: uuid() });

const sequencesOf = (entries: readonly LogEvent[]): readonly number[] => entries.map(({ sequence }) => sequence);

export function followContract(open: () => EventLog): void {
  readingOnContract(open);
  liveContract(open);
  endingContract(open);
}

function readingOnContract(open: () => EventLog): void {
  describe("following a log", () => {
    it("gives all of it from the beginning, in order", async () => {
      const log = open();
      const { sequences } = await storeFacts(log, 5);
      const entries = await readOn(log, 0, (read) => read.at(-1)?.sequence === sequences.at(-1));
      expect(sequencesOf(entries).slice(-5)).to.deep.equal(sequences);
      const places = entries.map(({ sequence, index }) => sequence * maxEventsOfEntry + index);
      expect([...new Set(places)].sort((one, other) => one - other)).to.deep.equal(places);
    });

    it("gives what comes after a place in the middle, each event as reading the job does", async () => {
      const log = open();
      const { job, sequences } = await storeFacts(log, 5);
      const entries = await readOn(log, sequences[1] ?? 0, (read) => read.length === 3);
      expect(entries).to.deep.equal((await log.readHistory(job)).slice(2));
    });

    it("gives no batch that is empty or larger than asked for", async () => {
      const log = open();
      const { lastSequence } = await log.state();
      await storeFacts(log, 25);
      const sizes: number[] = [];
      const following = followFrom(log, lastSequence, 10);
      for await (const batch of following.batches) {
        sizes.push(batch.length);
        if (sizes.reduce((sum, size) => sum + size, 0) === 25) following.stop();
      }
      for (const size of sizes) expect(size).to.be.within(1, 10);
    });

    it("ends no batch inside an entry, also where the entry is larger than asked for", async () => {
      const log = open();
      const { lastSequence } = await log.state();
      const job = newJob();
      const sequences: number[] = [];
      for (const size of [1, 3, 2, 12, 1]) {
        const [first, ...others] = Array.from({ length: size }, (_, recipient) =>
          caused(uuid(), recipientSent({ recipient })),
        );
        if (first !== undefined) sequences.push(await log.record(job, [first, ...others]));
      }
      const batches: LogEvent[][] = [];
      const following = followFrom(log, lastSequence, 5);
      for await (const batch of following.batches) {
        batches.push([...batch]);
        if (batch.at(-1)?.sequence === sequences.at(-1)) following.stop();
      }
      expect(batches.flat()).to.deep.equal(await log.readHistory(job));
      for (const batch of batches) {
        expect(batch[0]?.index).to.equal(0);
        expect(
          batch.length <= 5 || new Set(sequencesOf(batch)).size === 1,
          JSON.stringify(sequencesOf(batch)),
        ).to.equal(true);
      }
    });

    it("gives one event that is not known for an entry of facts that are not wanted, and decisions as ever", async () => {
      const log = open();
      const { lastSequence } = await log.state();
      const job = newJob();
      await log.append(job, [caused(uuid(), jobCreated())], 0);
      const facts = [caused(uuid(), recipientSent({ recipient: 0 })), caused(uuid(), recipientSent({ recipient: 1 }))];
      const sequence = await log.record(job, facts as [(typeof facts)[0]]);
      const [created] = await log.readHistory(job);
      const ending = new AbortController();
      const options = { afterSequence: lastSequence, maxEvents: 100, signal: ending.signal, wantsFacts: () => false };
      const read: LogEvent[] = [];
      for await (const batch of log.follow(options)) {
        read.push(...batch);
        if (read.at(-1)?.sequence === sequence) ending.abort();
      }
      expect(read[0]).to.deep.equal(created);
      expect(read.slice(1)).to.deep.equal([{ ...job, sequence, index: 0, unknownType: "unwanted" }]);
    });

    it("gives the jobs of all tenants, and every channel", async () => {
      const log = open();
      const { lastSequence } = await log.state();
      const [acme, globex] = [
        { tenant: "acme", jobId: uuid() },
        { tenant: "globex", jobId: uuid() },
      ];
      await log.append(acme, [caused(uuid(), jobCreated())], 0);
      await log.record(globex, [caused(uuid(), recipientSent())]);
      const entries = await readOn(log, lastSequence, (read) => read.length === 2);
      expect(entries.map(({ tenant, jobId }) => ({ tenant, jobId }))).to.deep.equal([acme, globex]);
    });
  });
}

function liveContract(open: () => EventLog): void {
  describe("following a log to its end and beyond", () => {
    it("gives what is stored later, as it comes", async () => {
      const log = open();
      const { lastSequence } = await log.state();
      const following = followFrom(log, lastSequence);
      const batches = following.batches[Symbol.asyncIterator]();
      for (let round = 0; round < 3; round += 1) {
        const next = batches.next();
        const { sequences } = await storeFacts(log, 1);
        const { value } = await next;
        expect(sequencesOf(value ?? [])).to.deep.equal(sequences);
      }
      following.stop();
      expect(await batches.next()).to.deep.include({ done: true });
    });

    it("gives each event once, in order, where the past passes into the present", async () => {
      const log = open();
      const { lastSequence } = await log.state();
      const job = newJob();
      const store = (recipient: number) => log.record(job, [caused(uuid(), recipientSent({ recipient }))]);
      for (let recipient = 0; recipient < 50; recipient += 1) await store(recipient);
      const reading = readOn(log, lastSequence, (read) => read.length === 250, 7);
      for (let recipient = 50; recipient < 250; recipient += 1) await store(recipient);
      expect(await reading).to.deep.equal(await log.readRecipients(job));
    });

    it("gives everything to each of several followers", async () => {
      const log = open();
      const { lastSequence } = await log.state();
      const readings = [1, 2, 3].map(() => readOn(log, lastSequence, (read) => read.length === 4));
      const { sequences } = await storeFacts(log, 4);
      for (const entries of await Promise.all(readings)) expect(sequencesOf(entries)).to.deep.equal(sequences);
    });
  });
}

function endingContract(open: () => EventLog): void {
  describe("a follower that is told to stop", () => {
    it("ends while it waits for more", async () => {
      const log = open();
      const following = followFrom(log, (await log.state()).lastSequence);
      const waiting = following.batches[Symbol.asyncIterator]().next();
      await storeFacts(log, 1);
      await waiting;
      const further = following.batches[Symbol.asyncIterator]().next();
      following.stop();
      expect(await further).to.deep.include({ done: true });
    });

    it("ends between two batches, though there is more", async () => {
      const log = open();
      const { lastSequence } = await log.state();
      await storeFacts(log, 10);
      const following = followFrom(log, lastSequence, 3);
      const read: LogEvent[] = [];
      for await (const batch of following.batches) {
        read.push(...batch);
        following.stop();
      }
      expect(read.length).to.be.within(1, 3);
    });

    it("gives nothing when it was told before it began", async () => {
      const log = open();
      await storeFacts(log, 1);
      const following = followFrom(log, 0);
      following.stop();
      expect(await following.batches[Symbol.asyncIterator]().next()).to.deep.include({ done: true });
    });
  });
}
