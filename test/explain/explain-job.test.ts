import { expect } from "chai";
import type { JobEvent } from "../../src/domain/job/events.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { explainJob, type FactsOfJob } from "../../src/explain/explain-job.ts";
import type { WorkerState } from "../../src/workers/membership.ts";
import {
  earlier,
  jobCancelled,
  jobCompleted,
  jobCreated,
  jobFailed,
  jobPaused,
  jobReleased,
  jobRetryScheduled,
  jobStarted,
  later,
  now,
  settings,
} from "../support/examples.ts";

const jobId = "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f";
const otherId = "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0e";

const stored = (...events: readonly JobEvent[]): readonly StoredEvent<JobEvent>[] =>
  events.map((event, index) => ({
    tenant: "default",
    jobId,
    id: `${index}`,
    sequence: index + 1,
    actor: "key:abc",
    event,
  })) as unknown as readonly StoredEvent<JobEvent>[];

const worker = (some: Partial<WorkerState> = {}): WorkerState => ({
  name: "worker-1",
  type: settings.type,
  busy: 0,
  slots: 5,
  helping: 0,
  breaker: "closed",
  ...some,
});

const known = <Fact>(fact: Fact) => ({ known: true, fact }) as const;
const unknown = { known: false } as const;

const explain = (events: readonly JobEvent[], facts: Partial<FactsOfJob> = {}) => {
  const nothing = { workers: null, group: null, ahead: null, mail: null };
  return explainJob({ jobId, now, decisions: stored(...events), ...nothing, ...facts });
};

const codesOf = (...given: Parameters<typeof explain>) => explain(...given)?.reasons.map(({ code }) => code);

const queued = jobCreated();
const route = (name: string, isUsable: boolean) => {
  const counts = { sent: 0, failed: 0, deferred: 0, unknown: 0, unavailable: 0 };
  return { name, breaker: "closed", isUsable, inFlight: 0, share: null, waiting: 0, counts } as const;
};
const nothingAhead = known({ count: 0, isAll: true });
const free = known([worker()]);

describe("The explanation of a job", () => {
  it("is none for what the log does not know", () => {
    expect(explain([])).to.equal(null);
  });

  it("says that the mail route which it asks for is away, as long as no worker can use that", () => {
    const away = worker({ routes: [route("default", true), route("second", false)] });
    const asks = jobCreated({ route: "second" });
    expect(codesOf([asks], { workers: known([away, away]) })).to.deep.equal(["route-away"]);
    expect(codesOf([jobCreated()], { workers: known([away, away]) })).to.deep.equal(["worker-awaited"]);
    const one = worker({ routes: [route("second", true)] });
    expect(codesOf([asks], { workers: known([away, one]) })).to.deep.equal(["worker-awaited"]);
  });

  it("says that all the routes which may carry its mails are away, and no word where one of them is not", () => {
    const away = worker({ routes: [route("default", true), route("second", false), route("third", false)] });
    const mayGoBy = (...routes: readonly string[]) => known({ slowed: [], routes });
    const reasonsWith = (...routes: readonly string[]) =>
      explain([jobCreated()], { workers: known([away]), mail: mayGoBy(...routes) })?.reasons;
    expect(reasonsWith("second", "third")?.[0]).to.deep.include({
      code: "route-away",
      message:
        "The mail routes that may carry its mails are away (second, third): every worker has found it so, and probes it.",
    });
    expect(reasonsWith("default", "second")?.map(({ code }) => code)).to.deep.equal(["worker-awaited"]);
  });

  it("names the receivers of its recipients that have asked for patience", () => {
    const slowed = ["a.example", "b.example", "c.example", "d.example"].map((receiver) => {
      return { receiver, perMinute: 12, since: earlier, pausedUntil: null, answer: "450 4.7.0" };
    });
    const facts = { workers: free, mail: known({ slowed, routes: [] }) };
    const retrying = explain([queued, jobStarted(), jobRetryScheduled()], facts)?.reasons ?? [];
    expect(retrying.map(({ code }) => code)).to.deep.equal(["next-attempt", ...Array(3).fill("receiver-slowed")]);
    expect(retrying[1]).to.deep.equal({
      code: "receiver-slowed",
      since: earlier,
      message:
        "The receiver a.example has asked for patience (450 4.7.0) and gets 12 mails a minute; its recipients wait, and no attempt is used up for them.",
      until: null,
      changedBy: "answers of the receiver that take mails",
    });
    expect(retrying[3]?.message).to.match(/So has 1 other receiver of its recipients\.$/);
    expect(codesOf([queued, jobStarted()], { mail: facts.mail })).to.include("receiver-slowed");
    expect(explain([queued, jobStarted()], { mail: unknown })?.notKnown).to.deep.equal(["receivers"]);
  });

  it("says what keeps one from being taken whose time has come, and since when it waits", () => {
    const scheduled = jobCreated({ scheduledAt: later });
    const due = { now: later, workers: known([]) };
    expect(explain([scheduled], due)?.reasons).to.deep.include({
      code: "no-worker",
      since: null,
      message: `No worker for jobs of type ${settings.type} answers.`,
      until: null,
      changedBy: "the start of a worker",
    });
    expect(explain([scheduled], { ...due, workers: free })?.reasons[0]).to.include({
      code: "worker-awaited",
      since: later,
    });
    const grouped = jobCreated({ scheduledAt: later, groupSha256: "c".repeat(64) });
    const group = known({ head: otherId, before: 2, isAll: true });
    expect(codesOf([grouped], { ...due, group })).to.deep.equal(["group-waits"]);
    const retried = [queued, jobStarted(), jobRetryScheduled({ nextAttemptAt: later })];
    const [reason, ...others] = explain(retried, due)?.reasons ?? [];
    expect(reason).to.include({ code: "next-attempt", until: null, changedBy: "a worker that takes it" });
    expect(reason?.message).to.include(`The next one was due at ${later}.`);
    expect(others.map(({ code }) => code)).to.deep.equal(["no-worker"]);
  });

  it("says until when a scheduled one waits", () => {
    expect(explain([jobCreated({ scheduledAt: later })])).to.deep.equal({
      status: "scheduled",
      reasons: [
        {
          code: "scheduled",
          since: now,
          message: `The job is scheduled for ${later}.`,
          until: later,
          changedBy: "a new scheduledAt",
        },
      ],
      notKnown: [],
    });
  });

  it("says who paused it, why, and what ends that", () => {
    const { reasons } = explain([queued, jobPaused({ reason: "wrong subject" })]) ?? {};
    expect(reasons?.[0]).to.include({
      code: "paused",
      message: "The job was paused by key:abc: wrong subject.",
      changedBy: "a resume",
      until: null,
    });
    expect(explain([queued, jobPaused()])?.reasons[0]?.message).to.equal("The job was paused by key:abc.");
  });

  it("says when the next attempt is, and why the last one ended", () => {
    const retry = jobRetryScheduled();
    const [reason] = explain([queued, jobStarted(), retry])?.reasons ?? [];
    expect(reason).to.include({ code: "next-attempt", until: retry.data.nextAttemptAt });
    expect(reason?.message).to.include(retry.data.error.code);
  });

  it("says how it ended", () => {
    expect(codesOf([queued, jobStarted(), jobCompleted()])).to.deep.equal(["completed"]);
    expect(explain([queued, jobStarted(), jobFailed()])?.reasons[0]).to.deep.include({
      code: "failed",
      message: "The job failed: too-many-failures: 2 of 3 recipients failed.",
      changedBy: "a retry or a requeue",
    });
    expect(explain([queued, jobCancelled({ reason: "withdrawn" })])?.reasons[0]?.message).to.equal(
      "The job was cancelled by key:abc: withdrawn.",
    );
  });

  describe("that is queued", () => {
    const waits = (workers: FactsOfJob["workers"], ahead: FactsOfJob["ahead"] = nothingAhead) =>
      codesOf([queued], { workers, ahead });

    it("is that a free worker will take it", () => {
      expect(waits(free)).to.deep.equal(["worker-awaited"]);
    });

    it("is that no worker of its kind answers", () => {
      expect(waits(known([]))).to.deep.equal(["no-worker"]);
      expect(waits(known([worker({ type: "note.print" })]))).to.deep.equal(["no-worker"]);
    });

    it("is that every worker is busy, and not that one of them is", () => {
      const busy = worker({ busy: 5 });
      expect(waits(known([busy, { ...busy, name: "worker-2" }]))).to.deep.equal(["workers-busy"]);
      expect(waits(known([busy, worker({ name: "worker-2" })]))).to.deep.equal(["worker-awaited"]);
    });

    it("is that the server is away where every breaker says so, with no time for it, which no other process knows", () => {
      const open = worker({ breaker: "open" });
      const { reasons } =
        explain([queued], { workers: known([open, worker({ breaker: "half-open" })]), ahead: nothingAhead }) ?? {};
      expect(reasons?.[0]).to.deep.include({ code: "server-away", since: null });
      expect(waits(known([open, worker({ name: "worker-2" })]))).to.deep.equal(["worker-awaited"]);
    });

    it("is how many jobs of its tenant go first", () => {
      const [reason] = explain([queued], { workers: free, ahead: known({ count: 1, isAll: true }) })?.reasons ?? [];
      expect(reason?.code).to.equal("jobs-ahead");
      expect(reason?.message).to.match(/^1 job of yours .* waits, too\.$/);
      const many = explain([queued], { workers: free, ahead: known({ count: 100, isAll: false }) })?.reasons ?? [];
      expect(many[0]?.message).to.match(/^At least 100 jobs of yours .* wait, too\.$/);
    });

    it("names what is not known, and guesses nothing about it", () => {
      expect(explain([queued], { workers: unknown, ahead: unknown })).to.deep.include({
        notKnown: ["workers", "jobs-ahead"],
      });
      expect(waits(unknown, unknown)).to.deep.equal(["worker-awaited"]);
    });
  });

  describe("of a group", () => {
    const grouped = jobCreated({ groupSha256: "c".repeat(64) });

    it("names the job that goes first", () => {
      const group = known({ head: otherId, before: 2, isAll: true });
      const [reason] = explain([grouped], { group, workers: free })?.reasons ?? [];
      expect(reason).to.include({ code: "group-waits", changedBy: `the end of job ${otherId}` });
      expect(reason?.message).to.include(`job ${otherId} is the first, and 2 jobs in all go before this one.`);
      const long = known({ head: otherId, before: 1000, isAll: false });
      const [ofMany] = explain([grouped], { group: long, workers: free })?.reasons ?? [];
      expect(ofMany?.message).to.include(`job ${otherId} is the first, and at least 1000 jobs go before this one.`);
    });

    it("says that it is its turn, and what keeps it from being taken", () => {
      const group = known({ head: jobId, before: 0, isAll: true });
      expect(codesOf([grouped], { group, workers: free })).to.deep.equal(["group-turn"]);
      expect(codesOf([grouped], { group, workers: known([]) })).to.deep.equal(["group-turn", "no-worker"]);
    });

    it("does not say whose turn it is where that is not known", () => {
      const { reasons, notKnown } = explain([grouped], { group: unknown, workers: free }) ?? {};
      expect(reasons?.[0]?.message).to.equal("The jobs of its group run one at a time.");
      expect(notKnown).to.deep.equal(["group"]);
    });
  });

  describe("that is being worked on", () => {
    it("names the worker, and since when", () => {
      const [reason] = explain([queued, jobStarted()], { workers: free })?.reasons ?? [];
      expect(reason).to.include({
        code: "worker-at-work",
        since: now,
        message: "The worker worker-1 is at work on it.",
      });
    });

    it("says that the server is away where this worker has found it so", () => {
      const workers = known([worker({ breaker: "open" }), worker({ name: "worker-2" })]);
      expect(codesOf([queued, jobStarted()], { workers })).to.deep.equal(["server-away", "worker-at-work"]);
    });

    it("says that the worker does not answer, where others do or none", () => {
      const others = known([worker({ name: "worker-2" })]);
      expect(codesOf([queued, jobStarted()], { workers: others })).to.deep.equal(["worker-silent"]);
      expect(codesOf([queued, jobStarted()], { workers: known([]) })).to.deep.equal(["worker-silent", "no-worker"]);
      expect(codesOf([queued, jobStarted()], { workers: unknown })).to.deep.equal(["worker-at-work"]);
    });

    it("says that its worker gave it back", () => {
      expect(codesOf([queued, jobStarted(), jobReleased()], { workers: free })).to.deep.equal(["worker-stopped"]);
    });
  });
});
