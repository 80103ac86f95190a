import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { EventLog, LogEvent } from "../../../src/event-log/event-log.ts";
import { shareFollowing } from "../../../src/event-log/following/share-following.ts";
import { UndecodableEvent } from "../../../src/event-log/log-failures.ts";
import { alteredLog } from "../../support/altered-log.ts";
import { eventually } from "../../support/eventually.ts";
import { failureOf } from "../../support/failure-of.ts";
import { followFrom } from "../../support/following.ts";
import { createMemoryEventLog } from "../../support/memory/memory-event-log.ts";
import { storeFacts } from "../../support/store-facts.ts";
import { followContract } from "../follow-contract.ts";

const limits = { patienceMs: { atEnd: 50, behind: 50 }, keptEvents: 3000, reach: 0 };

describe("a log that followers share", () => {
  const shared = shareFollowing(createMemoryEventLog());
  followContract(() => shared);
});

describe("followers that share a log", () => {
  /** Counts what is read of the log itself, and by how many readers at the moment. */
  const countReading = (log: EventLog) => {
    const count = { readers: 0, events: 0 };
    const follow: EventLog["follow"] = async function* (options) {
      count.readers += 1;
      try {
        for await (const batch of log.follow(options)) {
          count.events += batch.length;
          yield batch;
        }
      } finally {
        count.readers -= 1;
      }
    };
    return { count, log: { ...log, follow } };
  };

  const openShared = (source: EventLog = createMemoryEventLog(), others: Partial<typeof limits> = {}) => {
    const { count, log } = countReading(source);
    return { source, count, log: shareFollowing(log, { ...limits, ...others }) };
  };

  /** A follower that takes only what it is told to. */
  const follower = (log: EventLog, afterSequence = 0) => {
    const { batches, stop } = followFrom(log, afterSequence);
    const iterator = batches[Symbol.asyncIterator]();
    const sequences: number[] = [];
    const take = async (): Promise<readonly LogEvent[]> => {
      const { value, done } = await iterator.next();
      if (done) return [];
      sequences.push(...value.map(({ sequence }) => sequence));
      return value;
    };
    const takeUpTo = async (sequence: number): Promise<void> => {
      while ((sequences.at(-1) ?? afterSequence) < sequence) await take();
    };
    const end = async (): Promise<void> => {
      stop();
      await iterator.return?.();
    };
    return { sequences, take, takeUpTo, end };
  };

  const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, index) => index + 1);

  it("stand at one place: every event is read once for all of them", async () => {
    const { source, count, log } = openShared();
    await storeFacts(source, 500);
    const followers = [1, 2, 3].map(() => follower(log));
    await Promise.all(followers.map(({ takeUpTo }) => takeUpTo(500)));
    await storeFacts(source, 5);
    await Promise.all(followers.map(({ takeUpTo }) => takeUpTo(505)));
    for (const { sequences } of followers) expect(sequences).to.deep.equal(upTo(505));
    expect(count).to.deep.equal({ readers: 1, events: 505 });
    await Promise.all(followers.map(({ end }) => end()));
    await eventually(() => expect(count.readers).to.equal(0));
  });

  it("get the facts if they want them, in whichever order they came, and share one reader with those who do not", async () => {
    const { source, count, log } = openShared();
    const withoutFacts: EventLog = {
      ...log,
      follow: (options) => log.follow({ ...options, wantsFacts: () => false }),
    };
    const factsOf = (events: readonly LogEvent[]): number => events.filter((event) => "event" in event).length;
    await storeFacts(source, 5);
    const one = follower(withoutFacts);
    expect(factsOf(await one.take())).to.equal(0);
    const other = follower(log);
    expect(factsOf(await other.take())).to.equal(5);
    await storeFacts(source, 5);
    await Promise.all([one, other].map(({ takeUpTo }) => takeUpTo(10)));
    await storeFacts(source, 5);
    await Promise.all([one, other].map(({ takeUpTo }) => takeUpTo(15)));
    await eventually(() => expect(count.readers).to.equal(1));

    await other.end();
    await storeFacts(source, 5);
    await one.takeUpTo(20);
    const later = follower(log, 15);
    expect(factsOf(await later.take())).to.equal(5);
    await Promise.all([one, later].map(({ end }) => end()));
  });

  it("let it rest as long as the most hurried of them may", async () => {
    const source = createMemoryEventLog();
    let restMs: () => number = () => Number.NaN;
    const follow: EventLog["follow"] = (options) => {
      restMs = options.restMs ?? restMs;
      return source.follow(options);
    };
    const log = shareFollowing({ ...source, follow });
    const resting = (ms: number) =>
      follower({ ...log, follow: (options) => log.follow({ ...options, restMs: () => ms }) });
    await storeFacts(source, 1);
    const [patient, hurried] = [resting(100), resting(30)];
    await Promise.all([patient.take(), hurried.take()]);
    expect(restMs()).to.equal(30);
    await hurried.end();
    expect(restMs()).to.equal(100);
    await patient.end();
  });

  it("go on without the one that falls behind, which misses nothing and shares again once it has caught up", async () => {
    const { source, count, log } = openShared();
    await storeFacts(source, 8000);
    const [slow, quick] = [follower(log), follower(log)];
    await slow.take();
    await quick.takeUpTo(8000);
    expect(slow.sequences).to.have.length(100);

    await slow.takeUpTo(8000);
    await storeFacts(source, 1);
    await Promise.all([quick, slow].map(({ takeUpTo }) => takeUpTo(8001)));
    expect(slow.sequences).to.deep.equal(upTo(8001));
    await eventually(() => expect(count.readers).to.equal(1));
    await Promise.all([slow.end(), quick.end()]);
  });

  describe("that have a long way to go", () => {
    const farBehind = { patienceMs: { atEnd: 1, behind: 20_000 }, reach: 3000 };
    const happenedNow = (entry: LogEvent): LogEvent =>
      "event" in entry ? ({ ...entry, event: { ...entry.event, at: new Date().toISOString() } } as LogEvent) : entry;

    it("stay together, because each would decode everything once more", async () => {
      const { source, count, log } = openShared(createMemoryEventLog(), farBehind);
      await storeFacts(source, 8000);
      const [slow, quick] = [follower(log), follower(log)];
      await slow.take();
      const quickIsDone = quick.takeUpTo(8000);
      while ((slow.sequences.at(-1) ?? 0) < 8000) {
        await pause(4);
        await slow.take();
        expect(quick.sequences.length - slow.sequences.length).to.be.at.most(3500);
      }
      await quickIsDone;
      expect(slow.sequences).to.deep.equal(upTo(8000));
      expect(count).to.deep.equal({ readers: 1, events: 8000 });
      await Promise.all([slow.end(), quick.end()]);
    });

    it("part where they come to what happens now, which must not wait for a slow reader", async () => {
      const source = createMemoryEventLog();
      await storeFacts(source, 8000);
      const { log } = openShared(alteredLog(source, happenedNow), farBehind);
      const [slow, quick] = [follower(log), follower(log)];
      await slow.take();
      await quick.takeUpTo(8000);
      expect(slow.sequences).to.have.length(100);
      await slow.takeUpTo(8000);
      expect(slow.sequences).to.deep.equal(upTo(8000));
      await Promise.all([slow.end(), quick.end()]);
    });

    it("wait for the one that starts a little later, and then share with it", async () => {
      const { source, count, log } = openShared(createMemoryEventLog(), farBehind);
      await storeFacts(source, 10_000);
      const early = [follower(log), follower(log)];
      await Promise.all(early.map(({ takeUpTo }) => takeUpTo(4000)));
      const late = follower(log);
      await late.take();
      await Promise.all([...early, late].map(({ takeUpTo }) => takeUpTo(10_000)));
      for (const { sequences } of [...early, late]) expect(sequences).to.deep.equal(upTo(10_000));
      expect(count.readers).to.equal(1);
      expect(count.events).to.be.within(10_000, 18_000);
      await Promise.all([...early, late].map(({ end }) => end()));
    });

    it("wait once for one that stands still", async () => {
      const { source, log } = openShared(createMemoryEventLog(), { patienceMs: { atEnd: 1, behind: 300 } });
      await storeFacts(source, 10_000);
      const [still, others] = [follower(log), [follower(log), follower(log)]];
      await still.take();
      const begunAt = performance.now();
      await Promise.all(others.map(({ takeUpTo }) => takeUpTo(10_000)));
      expect(performance.now() - begunAt).to.be.within(250, 5000);
      await Promise.all([still, ...others].map(({ end }) => end()));
    });

    it("do not wait for one that is further away than their reach, or than the end of the log", async () => {
      const { source, log } = openShared(createMemoryEventLog(), farBehind);
      await storeFacts(source, 8000);
      const early = follower(log);
      await early.takeUpTo(7000);
      const late = follower(log);
      await late.take();
      await early.takeUpTo(8000);
      expect(late.sequences).to.have.length(100);
      await Promise.all([early.end(), late.end()]);

      const present = openShared(alteredLog(source, happenedNow), farBehind);
      const other = follower(present.log);
      await other.takeUpTo(4000);
      const later = follower(present.log);
      await later.take();
      await other.takeUpTo(8000);
      expect(later.sequences).to.have.length(100);
      await Promise.all([other.end(), later.end()]);

      const wide = openShared(source, { ...farBehind, reach: Number.POSITIVE_INFINITY });
      const ahead = follower(wide.log);
      await ahead.takeUpTo(7900);
      const behind = follower(wide.log);
      await behind.take();
      await ahead.takeUpTo(8000);
      const { sequences } = await storeFacts(source, 1);
      await ahead.takeUpTo(sequences[0] as number);
      expect(behind.sequences).to.have.length(100);
      await Promise.all([ahead.end(), behind.end()]);
    });

    it("go on alone when the one that they wait for cannot read on", async () => {
      const source = createMemoryEventLog();
      await storeFacts(source, 8000);
      let isBroken = false;
      const { log } = openShared(
        alteredLog(source, (entry) => (isBroken && entry.sequence === 200 ? "undecodable" : entry)),
        farBehind,
      );
      const early = follower(log);
      await early.takeUpTo(4000);
      isBroken = true;
      const late = follower(log);
      await late.take();
      await early.takeUpTo(8000);
      expect(early.sequences).to.deep.equal(upTo(8000));
      expect(await failureOf(late.takeUpTo(8000))).to.be.instanceOf(UndecodableEvent);
      await early.end();
    });
  });

  it("are looked through once for an event, and not by each of them: recipient webhooks have thousands", async () => {
    const { source, log } = openShared();
    const [stopping, many] = [new AbortController(), 100];
    let taken = 0;
    const readAll = async (): Promise<void> => {
      const from = { afterSequence: 0, maxEvents: 500, signal: stopping.signal };
      for await (const batch of log.follow(from)) taken += batch.length;
    };
    const reading = Array.from({ length: many }, readAll);
    await storeFacts(source, 1);
    await eventually(() => expect(taken).to.equal(many));
    const iterate = Set.prototype[Symbol.iterator];
    let looks = 0;
    Set.prototype[Symbol.iterator] = function () {
      if (this.size === many) looks += 1;
      return iterate.call(this);
    };
    try {
      await storeFacts(source, 1);
      await eventually(() => expect(taken).to.equal(2 * many));
    } finally {
      Set.prototype[Symbol.iterator] = iterate;
    }
    expect(looks).to.be.within(1, 10);
    stopping.abort();
    await Promise.all(reading);
  });

  it("read no further ahead than a few thousand events where no follower takes them", async () => {
    const { source, count, log } = openShared();
    await storeFacts(source, 10_000);
    const followers = [follower(log), follower(log)];
    await Promise.all(followers.map(({ take }) => take()));
    await eventually(() => expect(count.events).to.be.greaterThan(3000));
    expect(count.events).to.be.at.most(3500);
    await Promise.all(followers.map(({ takeUpTo }) => takeUpTo(10_000)));
    expect(count).to.deep.equal({ readers: 1, events: 10_000 });
    await Promise.all(followers.map(({ end }) => end()));
  });

  it("stand at different places: each gets what comes after its own", async () => {
    const { source, log } = openShared();
    await storeFacts(source, 6000);
    const [late, early] = [follower(log, 5000), follower(log, 10)];
    await late.take();
    await Promise.all([late, early].map(({ takeUpTo }) => takeUpTo(6000)));
    expect(late.sequences).to.deep.equal(upTo(6000).slice(5000));
    expect(early.sequences).to.deep.equal(upTo(6000).slice(10));
    await Promise.all([late.end(), early.end()]);
  });

  it("each hear of an event that cannot be decoded when its turn comes, and not before", async () => {
    const source = createMemoryEventLog();
    await storeFacts(source, 10);
    const { log } = openShared(alteredLog(source, (entry) => (entry.sequence === 7 ? "undecodable" : entry)));
    for (const { takeUpTo, take, sequences } of [follower(log), follower(log), follower(log, 5)]) {
      await takeUpTo(6);
      expect(await failureOf(take())).to.be.instanceOf(UndecodableEvent);
      expect(sequences.at(-1)).to.equal(6);
    }
  });

  it("do not notice that one of them stops", async () => {
    const { source, count, log } = openShared();
    await storeFacts(source, 300);
    const [leaving, staying] = [follower(log), follower(log)];
    await Promise.all([leaving.take(), staying.take()]);
    await leaving.end();
    await storeFacts(source, 5000);
    await staying.takeUpTo(5300);
    expect(staying.sequences).to.deep.equal(upTo(5300));
    expect(count).to.deep.equal({ readers: 1, events: 5300 });
    await staying.end();
  });

  it("get nothing of a log that was deleted and made anew, even while another one still follows the old log", async () => {
    const old = createMemoryEventLog("2026-11-21T09:00:00Z");
    const anew = createMemoryEventLog("2026-11-21T10:00:00Z");
    let present = old;
    const log = shareFollowing({ ...old, state: () => present.state(), follow: (options) => present.follow(options) });
    await storeFacts(old, 3);
    const before = follower(log);
    const ofOld = await before.take();
    present = anew;
    const { job } = await storeFacts(anew, 3);
    const after = follower(log);
    expect((await after.take()).map(({ jobId }) => jobId)).to.deep.equal([job.jobId, job.jobId, job.jobId]);
    expect(ofOld.map(({ jobId }) => jobId)).to.not.include(job.jobId);
    await Promise.all([before.end(), after.end()]);
  });
});
