import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import { decodeContent, digestOf, encodeContent } from "../../src/content/encode-content.ts";
import type { ErasurePorts } from "../../src/erasure/complete-erasure.ts";
import { eraseJob } from "../../src/erasure/erase-job.ts";
import { eraseLeftovers } from "../../src/erasure/erase-leftovers.ts";
import { erasePerson, type PersonQueries } from "../../src/erasure/erase-person.ts";
import { createJetStreamStoredThings } from "../../src/erasure/jetstream-stored-things.ts";
import type { StoredThings } from "../../src/erasure/stored-things.ts";
import { createSweeper } from "../../src/erasure/sweeper.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { acceptJob } from "../../src/intake/accept-job.ts";
import { emptyOutbox } from "../support/empty-outbox.ts";
import { eventually } from "../support/eventually.ts";
import { cancelJob, now, settings } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";
import { exampleContent, startWriteSide, type WriteSide } from "../support/write-side.ts";

const cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };
const bytes = Buffer.from("an invoice");
const sha256 = digestOf(bytes);
const dayMs = 86_400_000;

describe("Content that no job was made of", () => {
  let side: WriteSide;
  let ports: ErasurePorts;
  let things: StoredThings;

  before(async () => {
    side = await startWriteSide();
    ports = {
      log: side.log,
      contentStore: side.contentStore,
      results: createMemoryResultStore(),
      outbox: emptyOutbox,
      suppressions: side.suppressions,
    };
    things = createJetStreamStoredThings(side.connection, side.nats.prefix);
  });
  after(() => side.cleanUp());

  const named = { filename: "a.txt", contentType: "text/plain", contentId: null, size: bytes.length, sha256 };
  const content = encodeContent({
    ...exampleContent,
    recipients: [{ email: "ada@example.com" }],
    attachments: [named],
  });
  const draftOf = (job: JobRef) => ({
    job,
    content,
    attachments: [{ sha256, bytes }],
    settings: { ...settings, total: 1, contentSha256: digestOf(content), requestSha256: digestOf(job.jobId) },
  });
  /** As far as a request comes that dies before it creates its job. */
  const store = async (jobId: string): Promise<JobRef> => {
    const job = { tenant: "default", jobId };
    await side.contentStore.put(job, content);
    await side.contentStore.attachments.put(job, sha256, bytes);
    return job;
  };
  const isThere = async (job: JobRef) => ({
    content: (await side.contentStore.get(job)) !== null,
    attachment: (await side.contentStore.attachments.get(job, sha256)) !== null,
  });
  const nothing = { content: false, attachment: false };
  const everything = { content: true, attachment: true };

  /** Lets a sweeper look at all that is stored, whatever its age, until the content of the job is gone. */
  const sweepUntilGone = async (job: JobRef): Promise<void> => {
    const failures: unknown[] = [];
    const failed = (failure: unknown) => failures.push(failure);
    const reports = { erased: () => {}, notErased: (_: unknown, failure: unknown) => failed(failure), failed };
    const sweeper = createSweeper(ports, things, { olderThanMs: -1000, everyMs: 50 }, reports);
    sweeper.start();
    // Attachments go first. They are not looked at meanwhile, as one that is erased while it is read is waited for.
    await eventually(async () => expect(await side.contentStore.get(job)).to.equal(null));
    await sweeper.stop();
    expect(failures).to.deep.equal([]);
    expect(await isThere(job)).to.deep.equal(nothing);
  };

  it("is erased with its attachments once it is old, and what jobs were made of stays", async () => {
    const left = await store("left");
    const made = draftOf({ tenant: "default", jobId: "made" });
    await acceptJob(side.log, side.contentStore, made, cause, now);
    await sweepUntilGone(left);
    expect(await isThere(made.job)).to.deep.equal(everything);
    const history = await side.log.readDecisions(left);
    expect(history.map(({ event, actor }) => [event.type, actor])).to.deep.equal([["JobContentErased", "sweeper"]]);
  });

  it("is left alone while it is young, and found later", async () => {
    const young = await store("young");
    const old = await things.unsettled(Date.now() - dayMs);
    expect(old).to.deep.equal([]);
    expect(await isThere(young)).to.deep.equal(everything);
    const unsettled: string[] = [];
    for await (const { job } of things.unsettledOf("default")) unsettled.push(job.jobId);
    expect(unsettled).to.include("young");
    expect(unsettled).not.to.include("left");
  });

  it("is not asked for twice: what was looked at once is done with", async () => {
    const looked = createJetStreamStoredThings(side.connection, side.nats.prefix);
    await store("once");
    const seen: string[] = [];
    await eventually(async () => {
      for (const thing of await looked.unsettled(Date.now() + 1000)) {
        seen.push(`${thing.job.jobId} ${thing.attachment ?? ""}`);
        thing.settle();
      }
      expect(seen).to.include.members(["once ", `once ${sha256}`]);
    });
    await eventually(async () => expect(await looked.unsettled(Date.now() + 1000)).to.deep.equal([]));
    expect(seen.filter((thing) => thing === "once ")).to.have.length(1);
  });

  it("is found though other attachments are stored and erased after it", async () => {
    await store("early");
    await things.unsettled(Date.now() - dayMs);
    const other = await store("other");
    await side.contentStore.attachments.erase(other, sha256);
    await eventually(async () => {
      const found = await things.unsettled(Date.now() + 1000);
      expect(found.map(({ job, attachment }) => `${job.jobId} ${attachment}`)).to.include(`early ${sha256}`);
    });
  });

  it("is stored anew, for another job, by the request that stood still all the time", async () => {
    const draft = draftOf({ tenant: "default", jobId: "frozen" });
    const frozen = {
      ...side.log,
      append: async (...event: Parameters<typeof side.log.append>) => {
        if (event[0].jobId === "frozen") await sweepUntilGone(draft.job);
        return await side.log.append(...event);
      },
    };
    const acceptance = await acceptJob(frozen, side.contentStore, draft, cause, now);
    if (acceptance.outcome !== "accepted") throw new Error("It was refused");
    expect(acceptance).to.include({ isRepeat: false });
    expect(acceptance.job).not.to.deep.equal(draft.job);
    expect(await isThere(acceptance.job)).to.deep.equal(everything);
    expect(await isThere(draft.job)).to.deep.equal(nothing);
    const again = await acceptJob(side.log, side.contentStore, draft, cause, now);
    expect(again).to.deep.include({ isRepeat: true, job: acceptance.job });
  });

  it("is erased where it came back after the content of its job was erased", async () => {
    const draft = draftOf({ tenant: "default", jobId: "late" });
    await acceptJob(side.log, side.contentStore, draft, cause, now);
    await handleCommand(side.log, draft.job, cancelJob(), cause);
    await eraseJob(ports, draft.job, { isRetired: false, reason: null, cause, at: now });
    await store("late");
    await sweepUntilGone(draft.job);
    expect((await side.log.readDecisions(draft.job)).at(-1)?.event.type).to.equal("JobContentErased");
  });

  it("is found by the erasure of an address, and waited for while a request may be about to go on", async () => {
    const [left, made] = [await store("left-with-ada"), draftOf({ tenant: "default", jobId: "made-with-ada" })];
    await acceptJob(side.log, side.contentStore, made, cause, now);
    const request = { address: "Ada@example.com", reason: "asked for", cause, at: now };
    const young = await eraseLeftovers(
      { ...ports, storedThings: things },
      "default",
      request,
      Number.POSITIVE_INFINITY,
    );
    expect(young.erased).to.equal(0);
    expect(young.notEnded).to.include("left-with-ada");
    expect(young.notEnded).not.to.include("made-with-ada");
    expect(await isThere(left)).to.deep.equal(everything);
    const twoMinutesLater = {
      unsettledOf: async function* (tenant: string) {
        for await (const { job, storedAtMs } of things.unsettledOf(tenant)) {
          yield { job, storedAtMs: storedAtMs - 120_000 };
        }
      },
    };
    const inPorts = { ...ports, storedThings: twoMinutesLater };
    expect(await eraseLeftovers(inPorts, "acme", request, Number.POSITIVE_INFINITY)).to.deep.equal({
      erased: 0,
      notEnded: [],
      mailings: [],
    });
    expect(
      (await eraseLeftovers(inPorts, "default", { ...request, address: "bob@example.com" }, Number.POSITIVE_INFINITY))
        .erased,
    ).to.equal(0);
    expect((await eraseLeftovers(inPorts, "default", request, Number.POSITIVE_INFINITY)).erased).to.be.greaterThan(0);
    expect(await isThere(left)).to.deep.equal(nothing);
    expect(await isThere(made.job)).to.deep.equal(everything);
  });

  const none = async (upTo: number) => ({
    jobIds: [],
    mailingIds: [],
    scheduleIds: [],
    readSequence: upTo,
    next: null,
  });
  const queries: PersonQueries<never> = {
    jobsOf: (_, __, upTo) => none(upTo),
    withUnmade: none,
    schedules: none,
    running: (_, upTo) => none(upTo),
    untilErased: async () => {},
  };

  it("is found by the erasure of a person also where it becomes a job meanwhile", async () => {
    const draft = draftOf({ tenant: "default", jobId: "made-meanwhile" });
    const relaying = {
      ...emptyOutbox,
      eraseAddress: async () => {
        await acceptJob(side.log, side.contentStore, draft, cause, now);
        return { erased: 1, waiting: [] };
      },
    };
    const results = createMemoryResultStore();
    const personPorts = { ...ports, results, storedThings: things, outbox: relaying, suppressions: side.suppressions };
    const request = { address: "ada@example.com", reason: "asked for", cause, at: now };
    const erasure = await erasePerson(personPorts, queries, "default", request, () => {});
    expect(erasure).to.have.property("jobsNotEnded").that.includes("made-meanwhile");
  });

  it("is erased for a person also behind a job that cannot be erased, which the answer does not hide", async () => {
    const named = draftOf({ tenant: "default", jobId: "readable" });
    await acceptJob(side.log, side.contentStore, named, cause, now);
    await handleCommand(side.log, named.job, cancelJob(), cause);
    const readDecisions: typeof side.log.readDecisions = async (job) => {
      if (job.jobId === "unreadable") throw new Error("it cannot be decoded");
      return await side.log.readDecisions(job);
    };
    const log = { ...side.log, readDecisions };
    const jobsOf: typeof queries.jobsOf = async (_, __, upTo) => ({
      ...(await none(upTo)),
      jobIds: ["unreadable", "readable"],
    });
    const personPorts = { ...ports, log, storedThings: things, outbox: emptyOutbox, suppressions: side.suppressions };
    const request = { address: "ada@example.com", reason: "asked for", cause, at: now };
    const erasing = erasePerson(
      { ...personPorts, results: createMemoryResultStore() },
      { ...queries, jobsOf },
      "default",
      request,
      () => {},
    );
    expect((await failureOf(erasing)).message).to.equal("it cannot be decoded");
    const left = await side.contentStore.get(named.job);
    expect(left === null ? null : decodeContent(left).recipients).to.deep.equal([null]);
  });
});
