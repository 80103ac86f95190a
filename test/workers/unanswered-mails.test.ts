import { expect } from "chai";
import type { DeliveryError } from "../../src/domain/recipients/events.ts";
import { timesInDoubt } from "../../src/domain/recipients/ledger.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { createBookkeeper, createUnwritten } from "../../src/workers/bookkeeper.ts";
import { helpWith } from "../../src/workers/help-with.ts";
import { patienceOf, waitingForReceivers } from "../../src/workers/patience.ts";
import { serveRecipients } from "../../src/workers/serve-recipients.ts";
import {
  greylisted,
  job,
  jobCreated,
  jobRetryScheduled,
  jobStarted,
  recipientDeferred,
  settings,
} from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { holdTurn, lastingLease } from "../support/held-turn.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

const now = new Date().toISOString();
const unanswered = { code: "outcome-unknown", message: "closed", replyCode: null, statusCode: null };
const throttled = { code: waitingForReceivers, message: "1 of 2 recipients wait." };
const patient = { total: 2, deferForMs: 86_400_000 };
const inAnHour = new Date(Date.now() + 3_600_000).toISOString();

describe("A mail that is left without an answer", () => {
  let log: EventLog;
  const never = new AbortController().signal;
  beforeEach(() => {
    log = createMemoryEventLog();
  });

  /** So many attempts that all ended like this, and the beginning of one more. */
  const attemptAfter = async (
    attempts: number,
    ended: Parameters<typeof jobRetryScheduled>[0],
    error: DeliveryError,
  ) => {
    await happen(log, job, [jobCreated(patient, now)]);
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const turn = { run: 1, attempt };
      const retry = { run: 1, attempt: attempt + 1, nextAttemptAt: inAnHour, isForDeferred: true as const };
      await happen(log, job, [
        jobStarted(turn, now),
        recipientDeferred({ ...turn, error }, now),
        jobRetryScheduled({ ...retry, ...ended }, now),
      ]);
    }
    const turn = { run: 1, attempt: attempts + 1 };
    await happen(log, job, [jobStarted(turn, now)]);
    return turn;
  };
  /** What becomes of the first recipient in it. */
  const outcomeAfter = async (attempts: number, ended: Parameters<typeof jobRetryScheduled>[0], error = greylisted) => {
    const turn = await attemptAfter(attempts, ended, error);
    const patience = patienceOf({ ...settings, ...patient }, turn, await log.readDecisions(job));
    const held = await holdTurn(log, 2, { turn, ...patience });
    const books = createBookkeeper(log, held, () => now, createUnwritten(10), { claiming: never, giveUp: never });
    await serveRecipients(held, lastingLease, books, {
      window: () => 1,
      serve: async (recipient) =>
        recipient === 0
          ? { messageId: "m", outcome: { kind: "unknown", error: unanswered } }
          : { messageId: "m", outcome: { kind: "sent", response: "250" } },
      stopping: never,
    });
    await books.settled();
    const recipients = await log.readRecipients(job);
    return recipients.findLast(({ event }) => "recipient" in event.data && event.data.recipient === 0)?.event.type;
  };

  it("is sent again after attempts in which its recipient was only put off", async () => {
    const error = { code: "recipients-deferred", message: "1 of 2 recipients are to be tried again." };
    expect(await outcomeAfter(6, { error })).to.equal("RecipientDeferred");
  });

  it("is sent as often as the job has attempts, and no more, though others wait for their receiver", async () => {
    expect(await outcomeAfter(2, { error: throttled }, unanswered)).to.equal("RecipientDeferred");
    log = createMemoryEventLog();
    expect(await outcomeAfter(3, { error: throttled }, unanswered)).to.equal("RecipientUnknown");
  });

  it("is counted by a worker that helps another one, too", async () => {
    await attemptAfter(3, { error: throttled }, unanswered);
    const leaseSequence = await log.lastDecision(job);
    const groups = [[0], []];
    let times = 0;
    await helpWith(
      { ...job, worker: "worker-1" },
      {
        log,
        exchange: {
          announce: () => {},
          onAnnounced: () => () => {},
          answerFor: () => () => {},
          request: async () => ({ leaseSequence, recipients: groups.shift() ?? [] }),
        },
        worker: "worker-2",
        connections: { free: () => 1, areWanted: () => false },
        unwritten: createUnwritten(10),
        prepare: async () => ({
          claims: [],
          work: async ({ ledger }) => {
            times = timesInDoubt(ledger, 0);
            return { kind: "interrupted" };
          },
        }),
        id: "help-1",
        stopping: never,
        giveUp: never,
      },
    );
    expect(times).to.equal(3);
  });
});
