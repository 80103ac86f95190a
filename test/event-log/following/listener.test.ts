import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { v7 as uuid } from "uuid";
import { Unavailable } from "../../../src/domain/unavailable.ts";
import type { EventLog } from "../../../src/event-log/event-log.ts";
import type { Ending, Listening } from "../../../src/event-log/following/active-process.ts";
import type { CheckpointStore } from "../../../src/event-log/following/checkpoint-store.ts";
import { createListening, type Listener } from "../../../src/event-log/following/listener.ts";
import { LogLostItsEnd, UndecodableEvent } from "../../../src/event-log/log-failures.ts";
import { eventually } from "../../support/eventually.ts";
import { caused, jobCreated } from "../../support/examples.ts";
import { createMemoryCheckpointStore } from "../../support/memory/memory-checkpoint-store.ts";
import { createMemoryEventLog } from "../../support/memory/memory-event-log.ts";
import { storeFacts } from "../../support/store-facts.ts";

describe("What acts on the decisions in the log", () => {
  let log: EventLog;
  let checkpoints: CheckpointStore;
  let acted: string[];
  let failures: unknown[];
  let listenings: Listening[];

  beforeEach(() => {
    log = createMemoryEventLog();
    checkpoints = createMemoryCheckpointStore();
    acted = [];
    failures = [];
    listenings = [];
  });
  afterEach(async () => {
    await Promise.all(listenings.map((listening) => listening.stop(0)));
  });

  const decide = async (): Promise<string> => {
    const jobId = uuid();
    await log.append({ tenant: "default", jobId }, [caused(uuid(), jobCreated())], 0);
    return jobId;
  };
  const decideAll = async (count: number): Promise<string[]> => {
    const jobs: string[] = [];
    while (jobs.length < count) jobs.push(await decide());
    return jobs;
  };
  const listen = (changed: Partial<Listener> = {}, store = checkpoints, followed = log): Listening => {
    const listener: Listener = {
      name: "test",
      beginAfter: () => 0,
      act: async ({ jobId }) => void acted.push(jobId),
      atOnce: 10,
      tryAgainMs: 10,
      ...changed,
    };
    const report = (failure: unknown) => failures.push(failure);
    const listening = createListening({ log: followed, checkpoints: store, report }, listener);
    listening.start();
    listenings.push(listening);
    return listening;
  };
  /** The connection of a process that dies: what it asks from now on is lost. */
  const dyingStore = () => {
    let isDead = false;
    const ask = <Answer>(answer: () => Promise<Answer>): Promise<Answer> =>
      isDead ? Promise.reject(new Unavailable("It is dead.")) : answer();
    const store: CheckpointStore = {
      read: (name) => ask(() => checkpoints.read(name)),
      write: (name, text, revision) => ask(() => checkpoints.write(name, text, revision)),
    };
    const die = (): void => {
      isDead = true;
    };
    return { store, die };
  };

  it("gets each of them once, in their order, and no facts", async () => {
    const before = await decideAll(3);
    await storeFacts(log, 5);
    listen();
    const after = await decideAll(3);
    await eventually(() => expect(acted).to.deep.equal([...before, ...after]));
  });

  it("goes on after a stop where it was, whichever process it is in", async () => {
    const first = await decideAll(3);
    const one = listen();
    await eventually(() => expect(acted).to.deep.equal(first));
    await one.stop();
    const second = await decideAll(3);
    listen();
    await eventually(() => expect(acted).to.deep.equal([...first, ...second]));
  });

  it("begins where it says in a log that it has not heard yet, also after another log under the same name", async () => {
    await decideAll(5);
    const beginAfter = (last: number) => last - 2;
    const first = listen({ beginAfter });
    await eventually(() => expect(acted).to.have.lengthOf(2));
    await first.stop();
    log = createMemoryEventLog("2001-01-01T00:00:00.000Z");
    await decideAll(4);
    listen({ beginAfter });
    await eventually(() => expect(acted).to.have.lengthOf(4));
  });

  it("gets a decision again until it is carried out, and the ones behind it meanwhile", async () => {
    const [failing, ...others] = await decideAll(4);
    let tries = 0;
    const act: Listener["act"] = async ({ jobId }) => {
      if (jobId === failing) tries += 1;
      if (jobId === failing && tries < 4) throw new Error("not yet");
      acted.push(jobId);
    };
    listen({ act });
    await eventually(() => expect(acted).to.deep.equal([...others, failing]));
    expect(failures).to.have.lengthOf(3);
  });

  it("gets what was not carried out again in the next process, though later ones were", async () => {
    const [failing, ...others] = await decideAll(4);
    const first = listen({ act: async ({ jobId }) => void (jobId === failing ? await never : acted.push(jobId)) });
    await eventually(() => expect(acted).to.deep.equal(others));
    await first.stop(0);
    listen();
    await eventually(() => expect(acted).to.include(failing));
  });

  /** As NATS has it. */
  const mostOfMessage = 1_048_576;
  const withLimit = (most: number): CheckpointStore => ({
    ...checkpoints,
    write: async (name, text, revision) => {
      if (text.length > most) throw new Error("MAX_PAYLOAD_EXCEEDED");
      return await checkpoints.write(name, text, revision);
    },
  });

  it("leaves what it has not finished to the next process, also tens of thousands of things", async () => {
    const names = Array.from({ length: 20_000 }, () => `${"t".repeat(64)}.${uuid()}`);
    const found: (readonly string[])[] = [];
    const unfinished = { name: () => names, takeUp: async (left: readonly string[]) => void found.push(left) };
    const [job] = await decideAll(1);
    const first = listen({ unfinished }, withLimit(mostOfMessage));
    await eventually(() => expect(acted).to.deep.equal([job]));
    await first.stop();
    listen({ unfinished }, withLimit(mostOfMessage));
    await eventually(() => expect(found).to.have.lengthOf(2));
    expect(found[1]).to.deep.equal(names);
  });

  it("leaves it to the next process also where it is told to stop before it has taken all of it up", async () => {
    const found: (readonly string[])[] = [];
    let open: readonly string[] = ["one", "two"];
    /** As many as it has taken up by then. */
    const takeUp = async (left: readonly string[], { stopping }: Ending): Promise<void> => {
      found.push(left);
      open = [];
      while (open.length < left.length && !stopping.aborted) {
        await pause(20);
        open = left.slice(0, open.length + 1);
      }
    };
    const unfinished = { name: () => open, takeUp };
    const [job] = await decideAll(1);
    const first = listen({ unfinished: { ...unfinished, takeUp: async () => {} } });
    await eventually(() => expect(acted).to.deep.equal([job]));
    await first.stop();
    const second = listen({ unfinished });
    await eventually(() => expect(open).to.deep.equal([]));
    await second.stop();
    listen({ unfinished });
    await eventually(() => expect(found).to.have.lengthOf(2));
    expect(found[1]).to.deep.equal(["one", "two"]);
  });

  it("says so where its checkpoint cannot be written, though nothing is away", async () => {
    const unfinished = { name: () => ["a".repeat(100)], takeUp: async () => {} };
    listen({ unfinished }, withLimit(100));
    await eventually(() => expect(failures.map(String)).to.include("Error: MAX_PAYLOAD_EXCEEDED"), 10_000);
  });

  it("has no more of them in work at once than it says", async () => {
    await decideAll(30);
    let inWork = 0;
    let most = 0;
    const act: Listener["act"] = async ({ jobId }) => {
      inWork += 1;
      most = Math.max(most, inWork);
      await new Promise((resolve) => setImmediate(resolve));
      inWork -= 1;
      acted.push(jobId);
    };
    listen({ act, atOnce: 7 });
    await eventually(() => expect(acted).to.have.lengthOf(30));
    expect(most).to.equal(7);
  });

  it("is active in one process of several, and within five seconds in another once that one has died", async function () {
    this.timeout(120_000);
    const { store, die } = dyingStore();
    const actedBy: string[] = [];
    const started: string[] = [];
    const by = (name: string): Partial<Listener> => ({
      act: async () => void actedBy.push(name),
      companions: () => [{ start: () => void started.push(name), stop: async () => {} }],
    });
    listen(by("one"), store);
    await decideAll(3);
    await eventually(() => expect(actedBy).to.deep.equal(["one", "one", "one"]));
    // Its checkpoint says so after a second.
    await eventually(async () => expect((await checkpoints.read("test"))?.text).to.include('"sequence":3'));
    listen(by("other"));
    die();
    const diedAt = performance.now();
    await eventually(() => expect(started).to.include("other"), 10_000);
    expect(performance.now() - diedAt).to.be.below(5000);
    await decideAll(3);
    await eventually(() => expect(actedBy.slice(3)).to.deep.equal(["other", "other", "other"]));
  });

  it("may have many of them wait at once, without a warning", async () => {
    const warnings: string[] = [];
    const warned = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", warned);
    await decideAll(30);
    const act: Listener["act"] = async ({ jobId }) => {
      acted.push(jobId);
      throw new Error("later");
    };
    listen({ act, atOnce: 30, tryAgainMs: 50 });
    await eventually(() => expect(acted.length).to.be.above(60));
    process.off("warning", warned);
    expect(warnings).to.deep.equal([]);
  });

  it("gets what was not carried out again in the next process, also where the log lost its end and went on", async () => {
    const jobs = await decideAll(3);
    const [first, second] = jobs;
    let hasLost = false;
    const follow: EventLog["follow"] = async function* (options) {
      for await (const batch of log.follow(options)) {
        yield hasLost ? batch : batch.filter(({ sequence }) => sequence === 2);
        if (!hasLost) {
          hasLost = true;
          throw new LogLostItsEnd(2, 0);
        }
      }
    };
    const begun: string[] = [];
    const act: Listener["act"] = async ({ jobId }) => {
      begun.push(jobId);
      if (jobId === first || jobId === second) await never;
    };
    const listening = listen({ act }, checkpoints, { ...log, follow });
    await eventually(() => expect(begun).to.deep.equal([second, ...jobs]));
    await listening.stop(0);
    listen();
    await eventually(() => expect(acted).to.include.members([first, second]));
  });

  it("passes over what no release can read, and says so", async () => {
    const jobs = await decideAll(3);
    const broken = 2;
    const follow: EventLog["follow"] = async function* (options) {
      for await (const batch of log.follow(options)) {
        yield batch.filter(({ sequence }) => sequence < broken);
        if (options.afterSequence < broken) throw new UndecodableEvent(broken, "it is none");
        yield batch;
      }
    };
    listen({}, checkpoints, { ...log, follow });
    await eventually(() => expect(acted).to.deep.equal([jobs[0], jobs[2]]));
    expect(failures.map(String)).to.deep.equal(["UndecodableEvent: Event 2 of the log cannot be decoded: it is none"]);
  });
});

const never = new Promise<never>(() => {});
