import { expect } from "chai";
import { beginOfLog } from "../../../src/event-log/cursor.ts";
import type { EventLog } from "../../../src/event-log/event-log.ts";
import { UndecodableEvent } from "../../../src/event-log/log-failures.ts";
import { type TenantStretches, unknownStretches, wholeRest } from "../../../src/event-log/tenant-stretches.ts";
import { usualPast } from "../../../src/history/live/live.ts";
import { createPastReaders } from "../../../src/history/live/past-readers.ts";
import { type FeedStep, readFeed } from "../../../src/history/live/read-feed.ts";
import { createTail } from "../../../src/history/live/tail.ts";
import { breaking } from "../../support/breaking-log.ts";
import { eventually } from "../../support/eventually.ts";
import { jobCreated, recipientSent } from "../../support/examples.ts";
import { failureOf } from "../../support/failure-of.ts";
import { happen, newJob } from "../../support/happen.ts";
import { createMemoryEventLog } from "../../support/memory/memory-event-log.ts";

describe("A feed", () => {
  it("misses nothing and repeats nothing for a reader that falls far behind and catches up", async () => {
    const log = createMemoryEventLog();
    const tail = createTail(log, () => {});
    const stopping = new AbortController();
    const [ours, theirs] = [newJob("acme"), newJob("shop")];
    await happen(log, ours, [jobCreated()]);
    await happen(log, theirs, [jobCreated()]);
    const past = createPastReaders(usualPast).reader("acme", stopping.signal);
    const request = { tenant: "acme", after: beginOfLog, types: [], past };
    const read: number[] = [];
    const steps = readFeed({ log, tail, stretches: unknownStretches }, request, stopping.signal, 50)[
      Symbol.asyncIterator
    ]();
    const step = async (): Promise<FeedStep> => {
      const { value } = (await steps.next()) as { value: FeedStep };
      read.push(...value.events.map(({ sequence }) => sequence));
      return value;
    };
    while (!(await step()).isCaughtUp);
    // More than is buffered for one reader, while the reader takes nothing.
    for (let round = 0; round < 30; round += 1) {
      await happen(
        log,
        ours,
        Array.from({ length: 50 }, () => recipientSent()),
      );
      await happen(
        log,
        theirs,
        Array.from({ length: 50 }, () => recipientSent()),
      );
    }
    await eventually(() => expect(tail.position()).to.equal(3002));
    while ((await step()).position < 3002);
    const expected = (await log.readHistory(ours)).map(({ sequence }) => sequence);
    expect(read).to.deep.equal(expected);
    stopping.abort();
    expect((await steps.next()).done).to.equal(true);
    expect(tail.listeners()).to.equal(0);
    tail.close();
  });

  it("reads nothing of a long past but where its tenant has events, though the log grows, and misses none of them", async () => {
    const log = createMemoryEventLog();
    const tail = createTail(log, () => {});
    const stopping = new AbortController();
    const [ours, theirs] = [newJob("acme"), newJob("shop")];
    const theirMany = () =>
      happen(
        log,
        theirs,
        Array.from({ length: 1500 }, () => recipientSent()),
      );
    const places: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await theirMany();
      places.push(await happen(log, ours, [recipientSent()]));
    }
    const { lastSequence } = await log.state();
    const from: number[] = [];
    const watched: EventLog = {
      ...log,
      follow: (options) => {
        from.push(options.afterSequence);
        return log.follow(options);
      },
    };
    const stretches: TenantStretches = {
      next: async (_, afterSequence, state) => {
        // Of an index that is ahead of its log, nothing is known.
        if (state.lastSequence < (await log.state()).lastSequence) return wholeRest(afterSequence);
        const place = places.find((one) => one > afterSequence);
        return place === undefined
          ? wholeRest(lastSequence)
          : { first: Math.max(place - 10, afterSequence + 1), last: place };
      },
    };
    const past = createPastReaders(usualPast).reader("acme", stopping.signal);
    const request = { tenant: "acme", after: beginOfLog, types: [], past };
    const read: number[] = [];
    for await (const step of readFeed({ log: watched, tail, stretches }, request, stopping.signal, 50)) {
      read.push(...step.events.map(({ sequence }) => sequence));
      if (step.isCaughtUp) break;
      await happen(log, theirs, [recipientSent()]);
    }
    expect(read).to.deep.equal(places);
    expect(from).to.deep.equal(places.map((place) => place - 11));
    stopping.abort();
    tail.close();
  });

  it("breaks off where the tail did, for a slow reader too, though others have begun the tail anew by then", async () => {
    const log = createMemoryEventLog();
    const failures: unknown[] = [];
    const tail = createTail(breaking(log, 3), (failure) => failures.push(failure));
    const stopping = new AbortController();
    const [job, other] = [newJob("acme"), newJob("shop")];
    await happen(log, job, [jobCreated()]);
    const past = createPastReaders(usualPast).reader("acme", stopping.signal);
    const request = { tenant: "acme", after: beginOfLog, types: [], past };
    const steps = readFeed({ log, tail, stretches: unknownStretches }, request, stopping.signal, 50)[
      Symbol.asyncIterator
    ]();
    while (!((await steps.next()) as { value: FeedStep }).value.isCaughtUp);
    await steps.next();
    await happen(log, job, [recipientSent(), recipientSent(), recipientSent()]);
    await eventually(() => expect(failures).to.have.length(1));
    await tail.listen(other, { hear: () => {}, broken: () => {} });
    await happen(log, job, [recipientSent()]);
    await eventually(() => expect(tail.position()).to.equal(5));
    const { value } = (await steps.next()) as { value: FeedStep };
    expect([value.events.map(({ sequence }) => sequence), value.position]).to.deep.equal([[2], 2]);
    expect(await failureOf(steps.next())).to.be.instanceOf(UndecodableEvent);
    stopping.abort();
    tail.close();
  });

  it("has what the tail has told others, where a new leader does not know it yet", async () => {
    const log = createMemoryEventLog();
    const job = newJob("acme");
    const tail = createTail(log, () => {});
    await tail.listen(newJob("shop"), { hear: () => {}, broken: () => {} });
    await happen(log, job, [jobCreated(), recipientSent(), recipientSent()]);
    await eventually(() => expect(tail.position()).to.equal(3));
    const lagging: EventLog = { ...log, state: async () => ({ ...(await log.state()), lastSequence: 2 }) };
    const stopping = new AbortController();
    const past = createPastReaders(usualPast).reader("acme", stopping.signal);
    const request = { tenant: "acme", after: beginOfLog, types: [], past };
    const read: number[] = [];
    const parts = { log: lagging, tail, stretches: unknownStretches };
    for await (const step of readFeed(parts, request, stopping.signal, 50)) {
      read.push(...step.events.map(({ sequence }) => sequence));
      if (step.isCaughtUp) break;
    }
    expect(read).to.deep.equal([1, 2, 3]);
    stopping.abort();
    tail.close();
  });

  it("has what is stored while it reads up to what was the end", async () => {
    const log = createMemoryEventLog();
    const stopping = new AbortController();
    const job = newJob("acme");
    await happen(log, job, [jobCreated(), recipientSent()]);
    const tail = createTail(log, () => {});
    const growing: EventLog = {
      ...log,
      state: async () => {
        const state = await log.state();
        await happen(log, job, [recipientSent()]);
        return state;
      },
    };
    const past = createPastReaders(usualPast).reader("acme", stopping.signal);
    const request = { tenant: "acme", after: beginOfLog, types: [], past };
    const read: number[] = [];
    const parts = { log: growing, tail, stretches: unknownStretches };
    for await (const step of readFeed(parts, request, stopping.signal, 50)) {
      read.push(...step.events.map(({ sequence }) => sequence));
      if (step.position >= 3) break;
    }
    expect(read).to.deep.equal([1, 2, 3]);
    stopping.abort();
    tail.close();
  });
});
