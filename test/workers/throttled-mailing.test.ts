import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import { progressOf } from "../../src/domain/job/job-view.ts";
import { cell, emptyLedger, recordInLedger } from "../../src/domain/recipients/ledger.ts";
import { providersOf } from "../../src/domain/throttles/providers.ts";
import { usualRules } from "../../src/domain/throttles/throttle.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { createJetStreamThrottleStore } from "../../src/mail/throttles/jetstream-throttle-store.ts";
import { createReceivers, createReceiversOfRoutes, type SharedReceivers } from "../../src/mail/throttles/receivers.ts";
import { shareThrottles } from "../../src/mail/throttles/share-throttles.ts";
import type { Worker } from "../../src/workers/worker.ts";
import { eventually } from "../support/eventually.ts";
import { now } from "../support/examples.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const patience = { code: 450, text: "4.7.0 too many mails, come back later" };
/** What takes half a minute of a real receiver's time. */
const rules = { ...usualRules, growthMs: 3000 };
const cause = { actor: "key:k1", correlationId: null, causationId: null, traceparent: null };

describe("a mailing to a receiver that asks for patience", () => {
  let writeSide: WriteSide;
  let server: TestMailServer;
  const stops: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    writeSide = await startWriteSide();
    server = await startMailServer();
    writeSide.startScheduler();
  });

  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await writeSide.cleanUp();
    await server.stop();
  });

  /** A worker that shares its throttles with the others, as a process does. */
  const startWorker = (workers = 1): { readonly worker: Worker; readonly receivers: SharedReceivers } => {
    const receivers = createReceivers({ connections: 4, workers: () => workers, most: 1000, rules });
    const store = createJetStreamThrottleStore(writeSide.connection, { prefix: writeSide.nats.prefix, replicas: 1 });
    const routes = createReceiversOfRoutes(() => receivers);
    const sharing = shareThrottles({
      store,
      routes,
      records: null,
      report: (failure) => writeSide.reported.push(failure),
    });
    sharing.start();
    stops.push(sharing.stop);
    const worker = writeSide.startWorker(server.url, {
      throttling: { of: routes.of, isFree: () => routes.size() === 0, providers: providersOf([]), stays: 2 },
      retrySchedule: { baseDelayMs: 1000, factor: 1, jitter: 0, delaysMs: null },
    });
    return { worker, receivers };
  };

  const at = (domain: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `person${index}@${domain}`);

  const mailed = (domain: string): number => server.mails.filter(({ to }) => to[0]?.endsWith(`@${domain}`)).length;

  const everyOneOnce = (recipients: readonly string[]): void => {
    expect(server.mails.flatMap(({ to }) => to).sort()).to.deep.equal([...recipients].sort());
  };

  /** The next attempt begins as soon as one has ended, as if its time had come. */
  const ended = (job: JobRef) =>
    eventually(async () => {
      const view = await writeSide.readView(job);
      if (view.status === "retrying") await writeSide.putTurn(job);
      expect(view.completedAt).not.to.equal(null);
      return view;
    }, 60_000);

  const decide = (job: JobRef, type: "PauseJob" | "ResumeJob" | "CancelJob") =>
    handleCommand(writeSide.log, job, { type, at: now, reason: null }, cause);

  const eventsOf = async (job: JobRef) => (await writeSide.log.readHistory(job)).map(({ event }) => event);

  it("slows down for that receiver alone, and reaches everyone once, with the attempts that it had", async () => {
    server.limitDomain("slow.example", { perSecond: 5, answer: patience });
    startWorker(2);
    startWorker(2);
    const recipients = [...at("slow.example", 40), ...at("fast.example", 400)];
    const job = await writeSide.createJob(recipients, { maxAttempts: 2, deferForMs: 3_600_000 });
    await eventually(() => expect(mailed("fast.example")).to.equal(400));
    expect(mailed("slow.example"), "mails to the slow receiver by then").to.be.below(40);
    const view = await ended(job);
    expect(view.status).to.equal("completed");
    expect(progressOf(view)).to.include({ total: 440, sent: 440, failed: 0 });
    everyOneOnce(recipients);
    expect(writeSide.reported).to.deep.equal([]);
  });

  it("uses up no attempt of a job that has few, and asks for no other patience", async () => {
    server.limitDomain("shut.example", { perSecond: 0, answer: patience });
    startWorker();
    const recipients = at("shut.example", 4);
    const job = await writeSide.createJob(recipients, { maxAttempts: 2 });
    await eventually(async () => {
      const view = await writeSide.readView(job);
      if (view.status === "retrying") await writeSide.putTurn(job);
      expect(view.attempt).to.be.greaterThan(4);
    }, 30_000);
    server.limitDomain("shut.example", null);
    const view = await ended(job);
    expect(progressOf(view)).to.include({ sent: 4, failed: 0 });
    everyOneOnce(recipients);
  });

  describe("and takes nothing for now", () => {
    const recipients = [...at("shut.example", 60), ...at("open.example", 50)];
    let job: JobRef;
    let first: ReturnType<typeof startWorker>;

    beforeEach(async () => {
      server.limitDomain("shut.example", { perSecond: 0, answer: patience });
      first = startWorker();
      job = await writeSide.createJob(recipients, { maxAttempts: 1, deferForMs: 3_600_000, onUnknown: "skip" });
      await eventually(async () => {
        expect(mailed("open.example")).to.equal(50);
        expect(first.receivers.size()).to.equal(1);
      });
    });

    /** None is claimed that is not being sent: a worker that dies now leaves none in doubt. */
    const noneIsClaimed = () =>
      eventually(async () => {
        const { cells } = await ledgerOf(job);
        expect([...cells].filter((value) => value === cell.claimed)).to.deep.equal([]);
      });

    const ledgerOf = async (of: JobRef) => {
      const ledger = emptyLedger(recipients.length);
      for (const { event } of await writeSide.log.readRecipients(of)) recordInLedger(ledger, event as never);
      return ledger;
    };

    it("ends the attempt, which counts for none, and tries those again that were never tried", async () => {
      await eventually(async () => expect((await writeSide.readView(job)).status).to.equal("retrying"));
      const retries = (await eventsOf(job)).filter(({ type }) => type === "JobRetryScheduled");
      expect(retries[0]).to.have.nested.property("data.error.code", "receivers-throttled");
      await noneIsClaimed();
      server.limitDomain("shut.example", null);
      const view = await ended(job);
      expect(view.status).to.equal("completed");
      expect(progressOf(view)).to.include({ sent: 110, failed: 0, unknown: 0 });
      everyOneOnce(recipients);
    });

    it("is known to a worker that starts later", async () => {
      await eventually(async () => expect((await writeSide.readView(job)).status).to.equal("retrying"));
      await first.worker.stop(2000);
      const second = startWorker();
      await eventually(() => expect(second.receivers.size()).to.equal(1));
      expect(second.receivers.admit("open.example")).to.equal(null);
      expect(second.receivers.admit("shut.example")).not.to.equal(null);
    });

    it("can be cancelled while it waits", async () => {
      await eventually(async () => expect((await writeSide.readView(job)).status).to.equal("retrying"));
      await decide(job, "CancelJob");
      server.limitDomain("shut.example", null);
      await eventually(async () => expect((await writeSide.readView(job)).status).to.equal("cancelled"));
      await noneIsClaimed();
      await first.worker.stop(2000);
      expect(mailed("shut.example")).to.equal(0);
    });

    it("can be paused while it waits, and goes on where it was", async () => {
      await decide(job, "PauseJob");
      await noneIsClaimed();
      server.limitDomain("shut.example", null);
      await decide(job, "ResumeJob");
      const view = await ended(job);
      expect(progressOf(view)).to.include({ sent: 110, failed: 0, unknown: 0 });
      everyOneOnce(recipients);
    });
  });
});
