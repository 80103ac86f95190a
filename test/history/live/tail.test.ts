import { expect } from "chai";
import type { EventLog, StoredEvent, WaybillEvent } from "../../../src/event-log/event-log.ts";
import { UndecodableEvent } from "../../../src/event-log/log-failures.ts";
import { createTail, type Listener } from "../../../src/history/live/tail.ts";
import { breaking } from "../../support/breaking-log.ts";
import { eventually } from "../../support/eventually.ts";
import { jobCreated, jobStarted, recipientSent } from "../../support/examples.ts";
import { happen, newJob } from "../../support/happen.ts";
import { createMemoryEventLog } from "../../support/memory/memory-event-log.ts";

type Counted = { readonly log: EventLog; readonly readers: () => number };

/** Counts the current followers of the log. */
function counted(log: EventLog): Counted {
  let readers = 0;
  const follow: EventLog["follow"] = async function* (options) {
    readers += 1;
    try {
      yield* log.follow(options);
    } finally {
      readers -= 1;
    }
  };
  return { log: { ...log, follow }, readers: () => readers };
}

const hearing = (): Listener & { readonly heard: StoredEvent<WaybillEvent>[]; readonly failures: unknown[] } => {
  const heard: StoredEvent<WaybillEvent>[] = [];
  const failures: unknown[] = [];
  return { heard, failures, hear: (entry) => heard.push(entry), broken: (failure) => failures.push(failure) };
};

const sequencesOf = (entries: readonly StoredEvent<WaybillEvent>[]): readonly number[] =>
  entries.map(({ sequence }) => sequence);

describe("The tail of the log", () => {
  it("is read once, however many listen, and tells each what it listens to", async () => {
    const { log, readers } = counted(createMemoryEventLog());
    const tail = createTail(log, () => {});
    const [one, other] = [newJob("acme"), newJob("shop")];
    const [ofOne, ofShop, ofAcme] = [hearing(), hearing(), hearing()];
    await Promise.all([
      tail.listen(one, ofOne),
      tail.listen({ tenant: "shop", jobId: null }, ofShop),
      tail.listen({ tenant: "acme", jobId: null }, ofAcme),
    ]);
    await happen(log, one, [jobCreated()]);
    await happen(log, other, [jobCreated(), jobStarted()]);
    await happen(log, newJob("acme"), [jobCreated()]);
    await eventually(() => expect(tail.position()).to.equal(4));
    expect([ofOne, ofShop, ofAcme].map(({ heard }) => sequencesOf(heard))).to.deep.equal([[1], [2, 3], [1, 4]]);
    expect(readers()).to.equal(1);
    tail.close();
    await eventually(() => expect(readers()).to.equal(0));
  });

  it("is read no more some time after the last one left", async () => {
    const { log, readers } = counted(createMemoryEventLog());
    const tail = createTail(log, () => {}, 0);
    const leave = await tail.listen(newJob(), hearing());
    await eventually(() => expect(readers()).to.equal(1));
    leave();
    leave();
    expect(tail.listeners()).to.equal(0);
    await eventually(() => expect(readers()).to.equal(0));
    const job = newJob();
    const again = hearing();
    await tail.listen(job, again);
    await happen(log, job, [jobCreated()]);
    await eventually(() => expect(again.heard).to.have.length(1));
    tail.close();
  });

  it("notifies every reader when it breaks, and begins anew for later readers", async () => {
    const log = createMemoryEventLog();
    const reported: unknown[] = [];
    let breaks = true;
    const follow: EventLog["follow"] = async function* (options) {
      for await (const batch of log.follow(options)) {
        if (breaks) throw new UndecodableEvent(batch[0]?.sequence ?? 0, "it is of a newer release");
        yield batch;
      }
    };
    const tail = createTail({ ...log, follow }, (failure) => reported.push(failure));
    const job = newJob();
    const first = hearing();
    const leave = await tail.listen(job, first);
    await happen(log, job, [jobCreated()]);
    await eventually(() => expect(first.failures).to.have.length(1));
    expect(reported).to.have.length(1);
    leave();
    breaks = false;
    const second = hearing();
    await tail.listen(job, second);
    await happen(log, job, [recipientSent()]);
    await eventually(() => expect(sequencesOf(second.heard)).to.deep.equal([2]));
    expect(first.heard).to.deep.equal([]);
    tail.close();
  });

  it("tells one that it has broken off for nothing more, also where another one begins it anew", async () => {
    const log = createMemoryEventLog();
    const tail = createTail(breaking(log, 2), () => {});
    const job = newJob();
    const [slow, quick] = [hearing(), hearing()];
    await tail.listen(job, slow);
    await happen(log, job, [jobCreated(), jobStarted()]);
    await eventually(() => expect(slow.failures).to.have.length(1));
    expect(tail.listeners()).to.equal(0);
    await tail.listen(job, quick);
    await happen(log, job, [recipientSent()]);
    await eventually(() => expect(sequencesOf(quick.heard)).to.deep.equal([3]));
    expect(sequencesOf(slow.heard)).to.deep.equal([1]);
    tail.close();
  });
});
