import { expect } from "chai";
import { v7 as uuid } from "uuid";
import type { JobEvent } from "../../src/domain/job/events.ts";
import type { RecipientEvent } from "../../src/domain/recipients/events.ts";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { VersionConflict } from "../../src/event-log/log-failures.ts";
import * as example from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";

const { caused } = example;

const newJob = (): JobRef => ({ tenant: "default", jobId: uuid() });

const everyDecision: readonly JobEvent[] = [
  example.jobCreated({ scheduledAt: example.later, requestSha256: "b".repeat(64) }),
  example.jobStarted(),
  example.jobRetryScheduled(),
  example.jobPaused({ reason: "Grüße, 世界 \u{1f4e8}" }),
  example.jobResumed(),
  example.jobFailed(),
  example.jobRetried(),
  example.jobCompleted(),
  example.jobCancelled(),
];

const everyFact: readonly RecipientEvent[] = [
  example.recipientsClaimed(),
  example.recipientsReleased(),
  example.recipientSent(),
  example.recipientDeferred(),
  example.recipientFailed(),
  example.recipientUnknown(),
];

export function historyContract(open: () => EventLog): void {
  roundTripContract(open);
  entryContract(open);
  readingContract(open);
  tenantContract(open);
}

function roundTripContract(open: () => EventLog): void {
  describe("an event that was stored", () => {
    it("comes back with every field it had, and its place", async () => {
      const [log, job] = [open(), newJob()];
      const cause = { actor: "key:42", correlationId: "request-7", causationId: "created-1" };
      const [decided, sent, claimed] = [
        caused(uuid(), example.jobPaused({ reason: "Grüße" }), cause),
        caused(uuid(), example.recipientSent()),
        caused(uuid(), example.recipientsClaimed(), { actor: "worker:worker-2" }),
      ];
      const sequences = [
        await log.append(job, [decided], 0),
        await log.record(job, [sent]),
        await log.record(job, [claimed]),
      ];
      expect(await log.readHistory(job)).to.deep.equal([
        { ...job, ...decided, sequence: sequences[0], index: 0 },
        { ...job, ...sent, sequence: sequences[1], index: 0 },
        { ...job, ...claimed, sequence: sequences[2], index: 0 },
      ]);
    });

    it("comes back as it was, of whatever type it is", async () => {
      const [log, job] = [open(), newJob()];
      let last = 0;
      for (const event of everyDecision) last = await log.append(job, [caused(uuid(), event)], last);
      for (const event of everyFact) await log.record(job, [caused(uuid(), event)]);
      expect((await log.readHistory(job)).map(({ event }) => event)).to.deep.equal([...everyDecision, ...everyFact]);
    });

    it("is what came back about a mail, stored where none came back since", async () => {
      const [log, job] = [open(), newJob()];
      await log.append(job, [caused(uuid(), example.jobCreated())], 0);
      await log.record(job, [caused(uuid(), example.recipientSent())]);
      const first = await log.append(job, [caused(uuid(), example.recipientBounced())], 0);
      expect(await failureOf(log.append(job, [caused(uuid(), example.recipientComplained())], 0))).to.be.instanceOf(
        VersionConflict,
      );
      const second = await log.append(job, [caused(uuid(), example.recipientComplained())], first);
      await log.append(job, [caused(uuid(), example.recipientUnsubscribed())], second);
      const types = ["RecipientBounced", "RecipientComplained", "RecipientUnsubscribed"];
      const typesFrom = async (from?: number) => (await log.readFeedback(job, from)).map(({ event }) => event.type);
      expect(await typesFrom()).to.deep.equal(types);
      expect(await typesFrom(second)).to.deep.equal(types.slice(1));
      expect(await typesFrom(second + 1_000_000)).to.deep.equal(types);
      expect((await log.readHistory(job)).map(({ event }) => event.type)).to.deep.equal([
        "JobCreated",
        "RecipientSent",
        ...types,
      ]);
    });
  });
}

function entryContract(open: () => EventLog): void {
  describe("an entry of several events", () => {
    const started = () => [caused(uuid(), example.jobStarted()), caused(uuid(), example.recipientsClaimed())] as const;

    it("is stored under one sequence, and comes back in its order", async () => {
      const [log, job] = [open(), newJob()];
      const created = await log.append(job, [caused(uuid(), example.jobCreated())], 0);
      const entry = started();
      const sequence = await log.append(job, entry, created);
      const sent = [0, 1, 2].map((recipient) => caused(uuid(), example.recipientSent({ recipient })));
      const recorded = await log.record(job, sent as [(typeof sent)[0]]);
      expect((await log.readHistory(job)).slice(1)).to.deep.equal([
        ...entry.map((event, index) => ({ ...job, ...event, sequence, index })),
        ...sent.map((event, index) => ({ ...job, ...event, sequence: recorded, index })),
      ]);
    });

    it("has its decision among the decisions, and its facts among the facts", async () => {
      const [log, job] = [open(), newJob()];
      const created = await log.append(job, [caused(uuid(), example.jobCreated())], 0);
      const sequence = await log.append(job, started(), created);
      expect(await log.lastDecision(job)).to.equal(sequence);
      expect((await log.readDecisions(job)).map(({ event }) => event.type)).to.deep.equal(["JobCreated", "JobStarted"]);
      expect((await log.readRecipients(job)).map(({ event }) => event.type)).to.deep.equal(["RecipientsClaimed"]);
    });

    it("is stored whole or not at all", async () => {
      const [log, job] = [open(), newJob()];
      const created = await log.append(job, [caused(uuid(), example.jobCreated())], 0);
      expect(await failureOf(log.append(job, started(), created + 1))).to.be.instanceOf(VersionConflict);
      expect(await log.readHistory(job)).to.have.length(1);
    });

    it("is stored once, said again with the id of its first event", async () => {
      const [log, job] = [open(), newJob()];
      const entry = [0, 1].map((recipient) => caused(uuid(), example.recipientSent({ recipient })));
      const sequence = await log.record(job, entry as [(typeof entry)[0]]);
      expect(await log.record(job, entry as [(typeof entry)[0]])).to.equal(sequence);
      expect(await log.readRecipients(job)).to.have.length(2);
    });
  });
}

function readingContract(open: () => EventLog): void {
  describe("the history of a job", () => {
    it("is empty for an unknown job", async () => {
      const [log, job] = [open(), newJob()];
      expect(await log.readDecisions(job)).to.deep.equal([]);
      expect(await log.readRecipients(job)).to.deep.equal([]);
      expect(await log.readHistory(job)).to.deep.equal([]);
      expect(await log.lastDecision(job)).to.equal(0);
    });

    it("is read whole in the order of the log, or its decisions and its recipients apart", async () => {
      const [log, job] = [open(), newJob()];
      const created = await log.append(job, [caused(uuid(), example.jobCreated())], 0);
      await log.record(job, [caused(uuid(), example.recipientSuppressed())]);
      const started = await log.append(job, [caused(uuid(), example.jobStarted())], created);
      await log.record(job, [caused(uuid(), example.recipientsClaimed())]);
      await log.record(job, [caused(uuid(), example.recipientSent())]);
      await log.append(job, [caused(uuid(), example.jobCompleted())], started);

      const types = (events: readonly { event: { type: string } }[]) => events.map(({ event }) => event.type);
      const [decisions, recipients, history] = [
        await log.readDecisions(job),
        await log.readRecipients(job),
        await log.readHistory(job),
      ];
      expect(types(decisions)).to.deep.equal(["JobCreated", "JobStarted", "JobCompleted"]);
      expect(types(recipients)).to.deep.equal(["RecipientSuppressed", "RecipientsClaimed", "RecipientSent"]);
      expect(types(history)).to.deep.equal([
        "JobCreated",
        "RecipientSuppressed",
        "JobStarted",
        "RecipientsClaimed",
        "RecipientSent",
        "JobCompleted",
      ]);
      const sequences = history.map(({ sequence }) => sequence);
      expect(sequences).to.deep.equal(sequences.toSorted((one, other) => one - other));
    });

    it("of a mailing is read from one of its decisions on, or whole where that is not one of them", async () => {
      const [log, mailing] = [open(), newJob()];
      const stored = [0];
      for (const type of ["MailingPaused", "MailingResumed", "MailingPaused", "MailingCancelled"] as const) {
        await log.append(newJob(), [caused(uuid(), example.jobCreated())], 0);
        const event = { type, at: example.later, data: { reason: null } };
        stored.push(await log.append(mailing, [caused(uuid(), event)], stored.at(-1) ?? 0));
      }
      const [, first = 0, second = 0, ...later] = stored;
      const readFrom = async (from?: number) => (await log.readMailing(mailing, from)).map(({ sequence }) => sequence);
      expect(await readFrom(second)).to.deep.equal([second, ...later]);
      expect(await readFrom(later.at(-1))).to.deep.equal(later.slice(-1));
      expect(await readFrom(first)).to.deep.equal([first, second, ...later]);
      expect(await readFrom(second + 1)).to.deep.equal([first, second, ...later]);
      expect(await readFrom()).to.deep.equal([first, second, ...later]);
    });

    it("holds at once what was stored a moment ago", async () => {
      const [log, job] = [open(), newJob()];
      let last = 0;
      for (let turn = 1; turn <= 25; turn += 1) {
        last = await log.append(job, [caused(uuid(), example.jobPaused())], last);
        expect(await log.lastDecision(job)).to.equal(last);
        expect(await log.readDecisions(job)).to.have.length(turn);
      }
    });

    it("may be long, with much about other jobs in its midst", async () => {
      const [log, job, other] = [open(), newJob(), newJob()];
      const recipients = Array.from({ length: 2500 }, (_, recipient) => recipient);
      for (let from = 0; from < recipients.length; from += 500) {
        const some = recipients.slice(from, from + 500);
        const record = (about: JobRef) => (recipient: number) =>
          log.record(about, [caused(uuid(), example.recipientSent({ recipient }))]);
        await Promise.all(some.map(record(job)));
        await Promise.all((from === 1000 ? some : some.slice(0, 40)).map(record(other)));
      }
      const stored = await log.readRecipients(job);
      const found = stored.map(({ event }) => (event.type === "RecipientSent" ? event.data.recipient : null));
      expect(new Set(found)).to.deep.equal(new Set(recipients));
      const sequences = stored.map(({ sequence }) => sequence);
      expect(sequences).to.deep.equal([...new Set(sequences)].toSorted((one, next) => one - next));
      expect(await log.readRecipients(other)).to.have.length(660);
    });
  });
}

function tenantContract(open: () => EventLog): void {
  describe("jobs of two tenants that bear the same id", () => {
    it("have histories and guards of their own", async () => {
      const [log, jobId] = [open(), uuid()];
      const [acme, globex] = [
        { tenant: "acme", jobId },
        { tenant: "globex", jobId },
      ];
      const ofAcme = await log.append(acme, [caused(uuid(), example.jobCreated({ total: 1 }))], 0);
      const ofGlobex = await log.append(globex, [caused(uuid(), example.jobCreated({ total: 2 }))], 0);
      await log.record(globex, [caused(uuid(), example.recipientSent())]);
      expect(await log.lastDecision(acme)).to.equal(ofAcme);
      expect(await log.lastDecision(globex)).to.equal(ofGlobex);
      expect((await log.readHistory(acme)).map(({ tenant }) => tenant)).to.deep.equal(["acme"]);
      expect((await log.readHistory(globex)).map(({ tenant }) => tenant)).to.deep.equal(["globex", "globex"]);
      expect(await log.readRecipients(acme)).to.deep.equal([]);
      const failure = await failureOf(log.append(acme, [caused(uuid(), example.jobPaused())], ofGlobex));
      expect(failure).to.be.instanceOf(VersionConflict);
    });
  });
}
