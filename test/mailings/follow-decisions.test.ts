import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import { readJob } from "../../src/commands/read-version.ts";
import type { MailingEvent } from "../../src/domain/mailing/events.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { type EventLog, type JobRef, keyOf, type StoredEvent } from "../../src/event-log/event-log.ts";
import type { Listener } from "../../src/event-log/following/listener.ts";
import { UndecodableEvent } from "../../src/event-log/log-failures.ts";
import { eventually } from "../support/eventually.ts";
import {
  jobFailed,
  jobStarted,
  now,
  recipientComplained,
  recipientFailed,
  recipientSent,
  recipientsClaimed,
  retryJob,
} from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { happen } from "../support/happen.ts";
import { mailingListenerOf } from "../support/mailing-followers.ts";
import { cause, decide, draftMailing, importInto, people, type Stored, stateOf } from "../support/mailings.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

describe("A process that acts on decisions about mailings", function () {
  this.timeout(10_000);
  let stored: Stored;
  let stopping: AbortController;
  beforeEach(() => {
    stored = { log: createMemoryEventLog(), contentStore: createMemoryContentStore() };
    stopping = new AbortController();
  });
  afterEach(() => stopping.abort());

  const ending = () => ({ stopping: stopping.signal, givenUp: stopping.signal });
  /** The process reads the last event of this type in the log. */
  async function act(listener: Listener, mailing: JobRef, type: MailingEvent["type"]): Promise<void> {
    const found = (await stored.log.readMailing(mailing)).findLast(({ event }) => event.type === type);
    if (found === undefined) throw new Error(`There is no ${type}.`);
    await listener.act(found, ending());
  }
  const start = (mailing: JobRef) => decide(stored, mailing, { type: "StartMailing", at: now, scheduledAt: null });
  const say = (mailing: JobRef, type: "PauseMailing" | "ResumeMailing" | "CancelMailing") =>
    decide(stored, mailing, { type, at: now, reason: null });
  async function mailingOf(parts: number, tenant = "default", asked = {}): Promise<JobRef> {
    const mailing = await draftMailing(stored, tenant, asked);
    for (let part = 0; part < parts; part += 1) await importInto(stored, mailing, people(10, 10 * part));
    await start(mailing);
    return mailing;
  }
  const jobsOf = async (mailing: JobRef): Promise<readonly JobRef[]> =>
    (await stateOf(stored, mailing)).parts.map(({ jobId }) => ({ ...mailing, jobId }));
  const statusesOf = async (mailing: JobRef) =>
    await Promise.all((await jobsOf(mailing)).map(async (job) => (await readJob(stored.log, job)).state.status));

  it("leaves no part paused where it tries a pause again that was taken back meanwhile", async () => {
    const mailing = await mailingOf(2);
    let isAway = false;
    const readMailing: EventLog["readMailing"] = async (...given) => {
      if (isAway) throw new Unavailable("It did not answer.");
      return await stored.log.readMailing(...given);
    };
    const listener = mailingListenerOf({ ...stored, log: { ...stored.log, readMailing } });
    await act(listener, mailing, "MailingStarted");
    await say(mailing, "PauseMailing");
    isAway = true;
    expect(await failureOf(act(listener, mailing, "MailingPaused"))).to.be.instanceOf(Unavailable);
    isAway = false;
    await say(mailing, "ResumeMailing");
    await act(listener, mailing, "MailingResumed");
    await act(listener, mailing, "MailingPaused");
    expect(await statusesOf(mailing)).to.not.include("paused");
  });

  const lastWords = [
    { late: "MailingPaused", last: "ResumeMailing", carries: "MailingResumed", expected: "pending" },
    { late: "MailingResumed", last: "PauseMailing", carries: "MailingPaused", expected: "paused" },
  ] as const;
  for (const { late, last, carries, expected } of lastWords) {
    it(`leaves the parts as another process left them, though its ${late} comes late`, async () => {
      const mailing = await mailingOf(1);
      let release = (): void => {};
      let still: Promise<void> | null = null;
      let waits = false;
      const append: EventLog["append"] = async (...given) => {
        waits = still !== null;
        await still;
        return await stored.log.append(...given);
      };
      const former = mailingListenerOf({ ...stored, log: { ...stored.log, append } });
      await act(former, mailing, "MailingStarted");
      await say(mailing, "PauseMailing");
      if (late === "MailingResumed") {
        await act(former, mailing, "MailingPaused");
        await say(mailing, "ResumeMailing");
      }
      still = new Promise((resolve) => {
        release = resolve;
      });
      const acting = act(former, mailing, late);
      await eventually(() => expect(waits).to.equal(true));
      const next = mailingListenerOf(stored);
      await act(next, mailing, late);
      await say(mailing, last);
      await act(next, mailing, carries);
      still = null;
      release();
      await acting;
      expect(await statusesOf(mailing)).to.deep.equal([expected]);
    });
  }

  describe("about a part that had failed, and that somebody retried by hand", () => {
    let mailing: JobRef;
    let listener: Listener;
    beforeEach(async () => {
      mailing = await mailingOf(2);
      listener = mailingListenerOf(stored);
      await act(listener, mailing, "MailingStarted");
      const [job] = await jobsOf(mailing);
      if (job === undefined) throw new Error("The mailing has no part.");
      await happen(stored.log, job, [jobStarted(), jobFailed()]);
      const end = (await stored.log.readDecisions(job)).at(-1);
      if (end === undefined) throw new Error("The part has no end.");
      await listener.act(end, ending());
      await eventually(async () => expect((await stateOf(stored, mailing)).parts[0]?.result).to.equal("failed"));
      await handleCommand(stored.log, job, retryJob(), cause);
    });

    it("says that it was paused, though a process that was replaced goes on to say that it was resumed", async () => {
      await say(mailing, "PauseMailing");
      await act(listener, mailing, "MailingPaused");
      await say(mailing, "ResumeMailing");
      let [release, waits] = [(): void => {}, false];
      const still = new Promise<void>((resolve) => {
        release = resolve;
      });
      const append: EventLog["append"] = async (...given) => {
        waits = true;
        await still;
        return await stored.log.append(...given);
      };
      const former = mailingListenerOf({ ...stored, log: { ...stored.log, append } });
      const lost = new AbortController();
      const resumed = (await stored.log.readMailing(mailing)).at(-1) as StoredEvent<MailingEvent>;
      const acting = former.act(resumed, { stopping: lost.signal, givenUp: lost.signal });
      await eventually(() => expect(waits).to.equal(true));
      await act(listener, mailing, "MailingResumed");
      await say(mailing, "PauseMailing");
      await act(listener, mailing, "MailingPaused");
      lost.abort();
      release();
      await acting;
      expect(await statusesOf(mailing)).to.deep.equal(["paused", "paused"]);
    });

    it("says that the mailing was cancelled", async () => {
      await say(mailing, "CancelMailing");
      await act(listener, mailing, "MailingCancelled");
      expect(await statusesOf(mailing)).to.deep.equal(["cancelled", "cancelled"]);
    });

    it("says that it was paused, and resumed, also in another process", async () => {
      await say(mailing, "PauseMailing");
      await act(mailingListenerOf(stored), mailing, "MailingPaused");
      expect(await statusesOf(mailing)).to.deep.equal(["paused", "paused"]);
      await say(mailing, "ResumeMailing");
      await act(listener, mailing, "MailingResumed");
      expect(await statusesOf(mailing)).to.deep.equal(["pending", "pending"]);
    });
  });

  it("takes up one mailing though there is no room for the parts of another, which are made once there is", async () => {
    const [full, other] = [await mailingOf(1, "one"), await mailingOf(1, "two")];
    await act(mailingListenerOf(stored), other, "MailingStarted");
    await say(other, "CancelMailing");
    let hasRoom = false;
    const next = mailingListenerOf(stored, () => hasRoom);
    await next.unfinished?.takeUp([full, other].map(keyOf), ending());
    expect(await statusesOf(other)).to.deep.equal(["cancelled"]);
    expect(await statusesOf(full)).to.deep.equal(["absent"]);
    hasRoom = true;
    await eventually(async () => expect(await statusesOf(full)).to.deep.equal(["pending"]));
  });

  for (const unreadable of ["readMailing", "readDecisions"] as const) {
    it(`takes up one mailing though another cannot be read, which goes on once it can (${unreadable})`, async () => {
      const [odd, other] = [await mailingOf(1, "one"), await mailingOf(1, "two")];
      let isOdd = true;
      const throwIfOdd = (what: string, { tenant }: JobRef): void => {
        if (isOdd && what === unreadable && tenant === odd.tenant) throw new UndecodableEvent(7, "it is none");
      };
      const readMailing: EventLog["readMailing"] = async (ref, from) => {
        throwIfOdd("readMailing", ref);
        return await stored.log.readMailing(ref, from);
      };
      const readDecisions: EventLog["readDecisions"] = async (ref) => {
        throwIfOdd("readDecisions", ref);
        return await stored.log.readDecisions(ref);
      };
      const next = mailingListenerOf({ ...stored, log: { ...stored.log, readMailing, readDecisions } });
      await next.unfinished?.takeUp([odd, other].map(keyOf), ending());
      expect(await statusesOf(other)).to.deep.equal(["pending"]);
      expect(next.unfinished?.name()).to.have.members([odd, other].map(keyOf));
      isOdd = false;
      await eventually(async () => expect(await statusesOf(odd)).to.deep.equal(["pending"]));
    });
  }

  it("takes up several mailings at a time, and each of them", async () => {
    const mailings: JobRef[] = [];
    for (let count = 0; count < 50; count += 1) mailings.push(await mailingOf(1));
    let [reading, most] = [0, 0];
    const readMailing: EventLog["readMailing"] = async (...given) => {
      reading += 1;
      most = Math.max(most, reading);
      await pause(2);
      reading -= 1;
      return await stored.log.readMailing(...given);
    };
    const next = mailingListenerOf({ ...stored, log: { ...stored.log, readMailing } });
    await next.unfinished?.takeUp(mailings.map(keyOf), ending());
    for (const mailing of mailings) expect(await statusesOf(mailing)).to.deep.equal(["pending"]);
    expect(most).to.equal(16);
  });

  it("takes up none any more once NATS is away, and all in the end", async () => {
    const mailings: JobRef[] = [];
    for (let count = 0; count < 50; count += 1) mailings.push(await mailingOf(1));
    let reads = 0;
    let isAway = true;
    const readMailing: EventLog["readMailing"] = async (...given) => {
      reads += 1;
      if (isAway) throw new Unavailable("It did not answer.");
      return await stored.log.readMailing(...given);
    };
    const next = mailingListenerOf({ ...stored, log: { ...stored.log, readMailing } });
    const takeUp = async () => await next.unfinished?.takeUp(mailings.map(keyOf), ending());
    expect(await failureOf(takeUp())).to.be.instanceOf(Unavailable);
    expect(reads).to.be.at.most(16);
    isAway = false;
    await takeUp();
    for (const mailing of mailings) expect(await statusesOf(mailing)).to.deep.equal(["pending"]);
  });

  it("is done with the end of a part before it has recorded those that end within a moment", async () => {
    const mailing = await mailingOf(2);
    let isHeld = false;
    const append: EventLog["append"] = async (...given) =>
      isHeld ? await new Promise<never>(() => {}) : await stored.log.append(...given);
    const listener = mailingListenerOf({ ...stored, log: { ...stored.log, append } });
    await act(listener, mailing, "MailingStarted");
    const [job] = await jobsOf(mailing);
    if (job === undefined) throw new Error("The mailing has no part.");
    await handleCommand(stored.log, job, { type: "CancelJob", at: now, reason: null }, cause);
    const end = (await stored.log.readDecisions(job)).at(-1);
    if (end === undefined) throw new Error("The part has no end.");
    isHeld = true;
    await listener.act(end, ending());
    expect((await stateOf(stored, mailing)).parts[0]?.counts).to.equal(null);
  });

  it("counts the mails of a part that were on their way when a person cancelled it", async () => {
    const mailing = await mailingOf(2);
    const listener = mailingListenerOf(stored);
    await act(listener, mailing, "MailingStarted");
    const [job] = await jobsOf(mailing);
    if (job === undefined) throw new Error("The mailing has no part.");
    await happen(stored.log, job, [jobStarted(), recipientsClaimed({ recipients: [0, 1, 2] })]);
    await handleCommand(stored.log, job, { type: "CancelJob", at: new Date().toISOString(), reason: null }, cause);
    const acting = listener.act((await stored.log.readDecisions(job)).at(-1) as StoredEvent, ending());
    await happen(stored.log, job, [recipientSent({ recipient: 0 }), recipientSent({ recipient: 1 })]);
    // The other part does not wait for the third.
    await say(mailing, "PauseMailing");
    const pausing = act(listener, mailing, "MailingPaused");
    await eventually(async () => expect(await statusesOf(mailing)).to.deep.equal(["cancelled", "paused"]));
    await happen(stored.log, job, [recipientFailed({ recipient: 2 })]);
    await Promise.all([acting, pausing]);
    const ofPart = { total: 10, sent: 2, failed: 1, pending: 7, deferred: 0, unknown: 0, suppressed: 0 };
    await eventually(async () => expect((await stateOf(stored, mailing)).parts[0]?.counts).to.deep.equal(ofPart));
  });

  it("waits for no mails on their way that nobody counts, as their mailing was cancelled", async () => {
    const mailing = await mailingOf(1);
    const listener = mailingListenerOf(stored);
    await act(listener, mailing, "MailingStarted");
    const [job] = await jobsOf(mailing);
    if (job === undefined) throw new Error("The mailing has no part.");
    await happen(stored.log, job, [jobStarted(), recipientsClaimed({ recipients: [0, 1, 2] })]);
    await say(mailing, "CancelMailing");
    const cancelling = act(listener, mailing, "MailingCancelled");
    await eventually(async () => expect(await statusesOf(mailing)).to.deep.equal(["cancelled"]));
    const acting = listener.act((await stored.log.readDecisions(job)).at(-1) as StoredEvent, ending());
    const both = Promise.all([cancelling, acting]).then(() => "done");
    expect(acting).not.to.equal(null);
    expect(await Promise.race([both, pause(3000, "waiting")])).to.equal("done");
  });

  it("is done with a report while an earlier one is gathered, and counts both", async () => {
    const mailing = await mailingOf(1, "default", { stopWhen: { after: 1000, complaintRate: 0.5 } });
    const listener = mailingListenerOf(stored);
    await act(listener, mailing, "MailingStarted");
    const [job] = await jobsOf(mailing);
    if (job === undefined) throw new Error("The mailing has no part.");
    await happen(stored.log, job, [recipientComplained({ recipient: 0 }), recipientComplained({ recipient: 1 })]);
    const acting = (await stored.log.readFeedback(job)).map(async (report, index) => {
      await listener.act(report, ending());
      return index;
    });
    expect(await Promise.race(acting)).to.equal(1);
    await Promise.all(acting);
    expect((await stateOf(stored, mailing)).reports.complained).to.equal(2);
  });

  it("counts a report though recording it failed once", async () => {
    const mailing = await mailingOf(1, "default", { stopWhen: { after: 1000, complaintRate: 0.5 } });
    let isAway = false;
    const append: EventLog["append"] = async (...given) => {
      if (isAway) throw new Unavailable("It did not answer.");
      return await stored.log.append(...given);
    };
    const listener = mailingListenerOf({ ...stored, log: { ...stored.log, append } });
    await act(listener, mailing, "MailingStarted");
    const [job] = await jobsOf(mailing);
    if (job === undefined) throw new Error("The mailing has no part.");
    await happen(stored.log, job, [recipientComplained({ recipient: 0 })]);
    const [report] = await stored.log.readFeedback(job);
    if (report === undefined) throw new Error("There is no report.");
    isAway = true;
    expect(await failureOf(listener.act(report, ending()) ?? Promise.resolve())).to.be.instanceOf(Unavailable);
    isAway = false;
    await listener.act(report, ending());
    expect((await stateOf(stored, mailing)).reports.complained).to.equal(1);
  });

  it("counts a report once though the answer was lost, and another one came meanwhile", async () => {
    const mailing = await mailingOf(1, "default", { stopWhen: { after: 1000, complaintRate: 0.5 } });
    let isLost = false;
    const append: EventLog["append"] = async (...given) => {
      const sequence = await stored.log.append(...given);
      if (isLost) throw new Unavailable("The answer was lost.");
      return sequence;
    };
    const listener = mailingListenerOf({ ...stored, log: { ...stored.log, append } });
    await act(listener, mailing, "MailingStarted");
    const [job] = await jobsOf(mailing);
    if (job === undefined) throw new Error("The mailing has no part.");
    await happen(stored.log, job, [recipientComplained({ recipient: 0 }), recipientComplained({ recipient: 1 })]);
    const [first, second] = await stored.log.readFeedback(job);
    if (first === undefined || second === undefined) throw new Error("A report is missing.");
    isLost = true;
    expect(await failureOf(listener.act(first, ending()) ?? Promise.resolve())).to.be.instanceOf(Unavailable);
    isLost = false;
    await listener.act(second, ending());
    expect((await stateOf(stored, mailing)).reports.complained).to.equal(2);
  });

  it("leaves no part paused for what came back, where it was replaced and the mailing resumed meanwhile", async () => {
    const mailing = await mailingOf(1, "default", { stopWhen: { after: 10, complaintRate: 0.05 } });
    const [job] = await jobsOf(mailing);
    if (job === undefined) throw new Error("The mailing has no part.");
    let release = (): void => {};
    let still: Promise<void> | null = null;
    let waits = false;
    const append: EventLog["append"] = async (...given) => {
      waits = still !== null && keyOf(given[0]) === keyOf(job);
      if (waits) await still;
      return await stored.log.append(...given);
    };
    const former = mailingListenerOf({ ...stored, log: { ...stored.log, append } });
    await act(former, mailing, "MailingStarted");
    await happen(stored.log, job, [recipientComplained({ recipient: 0 })]);
    const [report] = await stored.log.readFeedback(job);
    if (report === undefined) throw new Error("There is no report.");
    still = new Promise((resolve) => {
      release = resolve;
    });
    const acting = former.act(report, { stopping: AbortSignal.abort(), givenUp: AbortSignal.abort() });
    await eventually(() => expect(waits).to.equal(true));
    const next = mailingListenerOf(stored);
    await act(next, mailing, "MailingPaused");
    await say(mailing, "ResumeMailing");
    await act(next, mailing, "MailingResumed");
    still = null;
    release();
    await acting;
    expect(await statusesOf(mailing)).to.deep.equal(["pending"]);
  });

  it("counts what comes back while it reads the mailing", async () => {
    const mailing = await mailingOf(1, "default", { stopWhen: { after: 1000, complaintRate: 0.5 } });
    await act(mailingListenerOf(stored), mailing, "MailingStarted");
    const [job] = await jobsOf(mailing);
    if (job === undefined) throw new Error("The mailing has no part.");
    await happen(stored.log, job, [recipientComplained({ recipient: 0 })]);
    const [report] = await stored.log.readFeedback(job);
    if (report === undefined) throw new Error("There is no report.");
    let answer = (): void => {};
    let isReading = false;
    const readMailing: EventLog["readMailing"] = async (...given) => {
      isReading = true;
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return await stored.log.readMailing(...given);
    };
    const listener = mailingListenerOf({ ...stored, log: { ...stored.log, readMailing } });
    const reading = act(listener, mailing, "MailingStarted");
    await eventually(() => expect(isReading).to.equal(true));
    const counting = listener.act(report, ending());
    answer();
    await Promise.all([reading, counting]);
    expect((await stateOf(stored, mailing)).reports.complained).to.equal(1);
  });

  it("counts those that come back while it reads the mailing, and those that come while it acts on what it has read", async () => {
    const mailing = await mailingOf(1, "default", { stopWhen: { after: 1000, complaintRate: 0.5 } });
    await act(mailingListenerOf(stored), mailing, "MailingStarted");
    const [job] = await jobsOf(mailing);
    if (job === undefined) throw new Error("The mailing has no part.");
    await happen(stored.log, job, [recipientComplained({ recipient: 0 }), recipientComplained({ recipient: 1 })]);
    const [first, second] = await stored.log.readFeedback(job);
    if (first === undefined || second === undefined) throw new Error("There are no reports.");
    await say(mailing, "PauseMailing");
    const held = new Map<string, () => void>();
    const holdAt = async (place: string): Promise<void> => {
      if (!held.has(place)) await new Promise<void>((resolve) => held.set(place, resolve));
    };
    const readMailing: EventLog["readMailing"] = async (...given) => {
      await holdAt(given[1] === undefined ? "reading" : "acting");
      return await stored.log.readMailing(...given);
    };
    const listener = mailingListenerOf({ ...stored, log: { ...stored.log, readMailing } });
    const pausing = act(listener, mailing, "MailingPaused");
    await eventually(() => expect(held.has("reading")).to.equal(true));
    const counting = [listener.act(first, ending())];
    held.get("reading")?.();
    await eventually(() => expect(held.has("acting")).to.equal(true));
    counting.push(listener.act(second, ending()));
    held.get("acting")?.();
    await Promise.all([pausing, ...counting]);
    expect((await stateOf(stored, mailing)).reports.complained).to.equal(2);
  });
});
