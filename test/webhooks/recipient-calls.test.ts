import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { EventLog, StoredEvent } from "../../src/event-log/event-log.ts";
import { UndecodableEvent } from "../../src/event-log/log-failures.ts";
import { createFairSemaphore } from "../../src/process/semaphore.ts";
import type { PostOutcome } from "../../src/signed-post/safe-post.ts";
import { newSecret } from "../../src/signed-post/secret.ts";
import {
  type CallEnd,
  type Calling,
  type CallPorts,
  callUntilTaken,
  type Outage,
} from "../../src/webhooks/recipient-calls.ts";
import type { RecipientEndpoint } from "../../src/webhooks/recipient-endpoints.ts";
import type { RecipientMessage } from "../../src/webhooks/recipient-messages.ts";
import { type StreamPorts, serveEndpoint } from "../../src/webhooks/recipient-stream.ts";
import { storedStream, toStoredStream } from "../../src/webhooks/stored-stream.ts";
import { eventually } from "../support/eventually.ts";
import { caused, earlier, job, jobCreated, recipientSent } from "../support/examples.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

const endpoint: RecipientEndpoint = { tenant: job.tenant, id: "e", types: ["recipient.sent"], createdAt: earlier };
const webhooks = {
  endpoints: [{ ...endpoint, url: "https://receiver.example/", secrets: [newSecret()] }],
  secrets: [],
};
const answered = (statusCode: number): PostOutcome => ({ kind: "answered", statusCode, retryAfterMs: null });
const never = new AbortController().signal;
const unanswered: PostOutcome = { kind: "unanswered", error: { code: "connection-failed", message: "refused" } };
const calling: Calling = { isHeld: () => true, stopping: never, givenUp: never, report: () => {} };

/** A job with an entry for each of its recipients; the sequence of the entry is that of the recipient, and two more. */
async function logOfRecipients(count: number): Promise<EventLog> {
  const log = createMemoryEventLog();
  await log.append(job, [caused("created", jobCreated())], 0);
  for (let recipient = 0; recipient < count; recipient += 1) {
    await log.record(job, [caused(`sent/${recipient}`, recipientSent({ recipient }))]);
  }
  return log;
}

/** The log with an entry that cannot be decoded, after which a reader has to ask for what comes next. */
const withBroken = (log: EventLog, sequence: number, isNewer: boolean): EventLog => ({
  ...log,
  follow: async function* (options) {
    const isBeyond = options.afterSequence >= sequence;
    for await (const batch of log.follow(options)) {
      const readable = isBeyond ? batch : batch.filter((event) => event.sequence < sequence);
      if (readable.length > 0) yield readable;
      if (readable.length < batch.length) throw new UndecodableEvent(sequence, "no one can read it", isNewer);
    }
  },
});

const portsOf = (post: StreamPorts["post"], followed: EventLog): StreamPorts => ({
  store: { read: async () => webhooks },
  people: { find: async () => ({ mailingId: null, email: null }) },
  post,
  semaphore: createFairSemaphore(4, 4),
  delayMs: () => 10,
  followed,
  skipped: () => {},
});

describe("An endpoint whose messages stand around an entry of the log that cannot be decoded", () => {
  const serve = async (isNewer: boolean, expected: readonly number[]): Promise<void> => {
    const taken: number[] = [];
    const post: StreamPorts["post"] = async ({ body }) => {
      const { data }: { data: readonly RecipientMessage[] } = JSON.parse(new TextDecoder().decode(body));
      taken.push(...data.map(({ recipient }) => recipient));
      return answered(204);
    };
    const stopping = new AbortController();
    const log = withBroken(await logOfRecipients(5), 4, isNewer);
    const state = { place: 0, outage: { lastedMs: 0 } };
    const served = serveEndpoint(portsOf(post, log), endpoint, state, { ...calling, stopping: stopping.signal });
    try {
      await eventually(() => expect(taken).to.have.lengthOf(expected.length), 5000);
      expect(taken).to.deep.equal(expected);
    } finally {
      stopping.abort();
      await served;
    }
  };

  it("gets those before it, and then those after it", () => serve(false, [0, 1, 3, 4]));
  it("gets those before it also while the entry waits for a newer release", () => serve(true, [0, 1]));
});

describe("A call about recipients", () => {
  const refusalMs = 200;
  const outageMs = 1000;
  const sent = { ...caused("sent/0", recipientSent()), ...job, sequence: 2, index: 0 } satisfies StoredEvent;

  /** Calls a receiver that answers so, one after the other, and after that always as the last says. */
  const call = (
    answers: readonly (() => Promise<PostOutcome>)[],
    { outage = { lastedMs: 0 }, ...changed }: Partial<CallPorts> & { readonly outage?: Outage } = {},
  ): Promise<CallEnd> => {
    let calls = 0;
    const post = (): Promise<PostOutcome> => {
      calls += 1;
      const answer = answers[Math.min(calls, answers.length) - 1];
      return answer === undefined ? Promise.reject(new Error("no answer is given")) : answer();
    };
    const ports = { ...portsOf(post, createMemoryEventLog()), limits: { outageMs, refusalMs }, ...changed };
    return callUntilTaken(ports, endpoint, [sent], outage, calling);
  };
  const says = (status: number) => async () => answered(status);
  const isAwayFor = (ms: number) => async () => {
    await pause(ms);
    return unanswered;
  };

  it("is left out once the receiver has refused it for long", async () => {
    const begunAt = performance.now();
    expect(await call([says(404)])).to.equal("refused");
    expect(performance.now() - begunAt).to.be.at.least(refusalMs);
  });

  it("is made again after one refusal, however long the receiver was away before", async () => {
    expect(await call([isAwayFor(refusalMs + 50), says(404), says(200)])).to.equal("delivered");
  });

  it("is made again where another answer stands between the refusals", async () => {
    expect(await call([says(404), isAwayFor(refusalMs + 50), says(404), says(200)])).to.equal("delivered");
  });

  it("is made again after one refusal, however long NATS was away before", async () => {
    let reads = 0;
    const read: CallPorts["store"]["read"] = async () => {
      reads += 1;
      if (reads === 2) throw new Unavailable("NATS is away");
      return webhooks;
    };
    expect(await call([says(404), says(404), says(200)], { store: { read } })).to.equal("delivered");
  });

  it("is left out once the receiver has taken nothing for too long, also in calls of several processes", async () => {
    const outage = { lastedMs: 0 };
    expect(await call([says(503)], { outage })).to.equal("outage");
    expect(outage.lastedMs).to.be.at.least(outageMs);
    const begunAt = performance.now();
    expect(await call([says(503)], { outage: { lastedMs: outageMs - 100 } })).to.equal("outage");
    expect(performance.now() - begunAt).to.be.lessThan(outageMs);
  });

  it("is not left out because no process ran for a while: only time between calls counts", async () => {
    const text = storedStream(endpoint, { place: 7, outage: { lastedMs: outageMs - 500.4 } });
    await pause(600);
    const outage = toStoredStream(text)?.state.outage;
    expect(outage).to.deep.equal({ lastedMs: outageMs - 500 });
    expect(await call([says(503), says(200)], outage && { outage })).to.equal("delivered");
    expect(outage).to.deep.equal({ lastedMs: 0 });
  });
});
