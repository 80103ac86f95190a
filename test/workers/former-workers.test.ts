import { expect } from "chai";
import type { EventOfJob } from "../../src/domain/job/job-view.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { askFormerWorkers, outwaitFormerWorkers } from "../../src/workers/former-workers.ts";
import type { LeaseAnswer } from "../../src/workers/lease.ts";
import {
  job,
  jobCreated,
  jobPaused,
  jobReleased,
  jobResumed,
  jobRetryScheduled,
  jobStarted,
  recipientSent,
  recipientsClaimed,
} from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

const claimedBy = (worker: string, ...recipients: number[]) => recipientsClaimed({ worker, recipients });

describe("a worker that is handed a job which another one held", () => {
  let log: EventLog;
  let answers: Record<string, LeaseAnswer>;
  let asked: string[];

  beforeEach(() => {
    log = createMemoryEventLog();
    [answers, asked] = [{}, []];
  });

  const portsOf = (worker: string) => ({
    log,
    worker,
    mayHaveHelpers: true,
    probe: {
      answerFor: () => () => {},
      ask: async (one: string): Promise<LeaseAnswer> => {
        asked.push(one);
        return answers[one] ?? "silent";
      },
    },
  });
  const ask = async (history: readonly EventOfJob[], worker = "taker") => {
    await happen(log, job, history);
    return await askFormerWorkers(portsOf(worker), job, await log.readDecisions(job));
  };
  const started = [jobCreated(), jobStarted({ worker: "holder" })];
  const helped = [...started, claimedBy("holder", 0), claimedBy("helper", 1)];
  const served = [...helped, recipientSent({ recipient: 0 }), recipientSent({ recipient: 1 })];

  it("takes it at once if no worker ever held it", async () => {
    expect(await ask([jobCreated()])).to.equal("gone");
    expect(asked).to.deep.equal([]);
  });

  it("leaves it to a holder that is at it", async () => {
    answers = { holder: "running" };
    expect(await ask(helped)).to.equal("at-work");
  });

  it("asks no helper where the holder lives and has ended its turn: it has waited for them", async () => {
    answers = { holder: "over", helper: "running" };
    expect(await ask([...served, jobPaused(), jobResumed()])).to.equal("gone");
    expect(asked).to.deep.equal(["holder"]);
  });

  it("asks no helper where the holder has decided the end of its lease before it stopped", async () => {
    answers = { helper: "running" };
    expect(await ask([...served, jobReleased({ worker: "holder" })])).to.equal("gone");
    expect(await ask([jobStarted({ worker: "holder" }), jobRetryScheduled()])).to.equal("gone");
    expect(asked).to.deep.equal(["holder", "holder"]);
  });

  it("leaves it to a worker that was lost under an earlier lease and is back, with a mail on its way", async () => {
    answers = { helper: "running" };
    expect(await ask([...helped, jobReleased({ worker: "holder" })])).to.equal("at-work");
    answers = { helper: "silent" };
    expect(await askFormerWorkers(portsOf("taker"), job, await log.readDecisions(job))).to.equal("gone");
  });

  it("leaves the job to the helper of a holder that died", async () => {
    answers = { helper: "running" };
    expect(await ask(served)).to.equal("at-work");
    expect(asked).to.deep.equal(["holder", "helper"]);
  });

  it("leaves the job to a helper of its own former lease", async () => {
    answers = { helper: "running" };
    expect(await ask(helped, "holder")).to.equal("at-work");
    expect(asked).to.deep.equal(["helper"]);
  });

  it("asks those who helped under the last lease only", async () => {
    expect(await ask([...served, jobStarted({ worker: "second" }), claimedBy("third", 2)])).to.equal("silent");
    expect(asked).to.deep.equal(["second", "third"]);
  });

  it("knows that one of them may believe in its lease where one is silent", async () => {
    answers = { helper: "over" };
    expect(await ask(helped)).to.equal("silent");
    answers = { helper: "silent" };
    expect(await askFormerWorkers(portsOf("holder"), job, await log.readDecisions(job))).to.equal("silent");
    answers = { helper: "over" };
    expect(await askFormerWorkers(portsOf("holder"), job, await log.readDecisions(job))).to.equal("gone");
  });

  it("waits with its own lease for a helper that had not claimed anything when the holder died", async () => {
    await happen(log, job, started);
    const decisions = await log.readDecisions(job);
    const lease = await happen(log, job, [jobStarted({ worker: "taker" })]);
    setTimeout(() => void log.record(job, [{ ...causeOf("late"), event: claimedBy("helper", 1) }]), 100);
    answers = { helper: "running" };
    let isOver = false;
    const { signal } = new AbortController();
    const over = outwaitFormerWorkers(portsOf("taker"), job, decisions, lease, signal).then((end) => {
      isOver = true;
      return end;
    });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(isOver).to.equal(false);
    answers = { helper: "over" };
    expect(await over).to.equal("gone");
  });

  it("does not wait any more once its lease is lost: the worker that has it waits for this one", async () => {
    await happen(log, job, helped);
    const decisions = await log.readDecisions(job);
    const lease = await happen(log, job, [jobStarted({ worker: "taker" })]);
    await happen(log, job, [jobStarted({ worker: "third" })]);
    answers = { helper: "running" };
    const { signal } = new AbortController();
    expect(await outwaitFormerWorkers(portsOf("taker"), job, decisions, lease, signal)).to.equal("lease-lost");
  });

  it("waits on where the log is away meanwhile: a lease left behind would be one more takeover", async () => {
    await happen(log, job, helped);
    const decisions = await log.readDecisions(job);
    const lease = await happen(log, job, [jobStarted({ worker: "taker" })]);
    let refusals = 2;
    const readRecipients: EventLog["readRecipients"] = async (...asked) => {
      if (refusals === 0) return await log.readRecipients(...asked);
      refusals -= 1;
      throw new Unavailable("away");
    };
    answers = { helper: "over" };
    const ports = { ...portsOf("taker"), log: { ...log, readRecipients } };
    const { signal } = new AbortController();
    expect(await outwaitFormerWorkers(ports, job, decisions, lease, signal)).to.equal("gone");
    expect(refusals).to.equal(0);
  });

  it("does not wait any more when it is to stop", async () => {
    await happen(log, job, started);
    const stopping = new AbortController();
    const over = outwaitFormerWorkers(portsOf("taker"), job, await log.readDecisions(job), 2, stopping.signal);
    stopping.abort();
    expect(await over).to.equal("stopping");
  });
});

const causeOf = (id: string) => ({
  id,
  actor: "worker:helper",
  correlationId: null,
  causationId: null,
  traceparent: null,
});
