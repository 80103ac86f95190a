import { createInbox, ErrorCode, type Msg, NatsError } from "nats";
import type { Lane as LaneName } from "../event-log/event-log.ts";
import { type JetStreamConnection, nanosOf } from "../event-log/jetstream-connection.ts";
import { type DurableConsumer, nextMessages } from "../event-log/jetstream-durable.ts";
import { isStatus } from "../event-log/jetstream-message.ts";

/**
 * How long the server keeps a request for which there is no message. With `no_wait` it would say so at once, but 2.9
 * looks through the subjects of the log for that, each time through more of them.
 */
const expiresMs = 100;
/** Releases up to 2.9.15 forget to say when the time is up. */
const silenceMs = 150;
/** A lane that was found empty is asked again after this, hint or no hint. */
const lookAgainAfterMs = 500;
/** A hint may be here before its message is in the log: then the lane is asked once more, a moment later. */
const hintIsYoungForMs = 50;
const askOnceMoreAfterMs = 20;
/** What came when nobody waited for it is handed back after this, unless it was taken. */
const keptForMs = 50;

/** The turns of one lane, as the consumer that all workers share hands them out. */
export type Lane = {
  readonly name: LaneName;
  readonly consumer: DurableConsumer;
  /** Something is likely to be there, or nobody has looked for a while. */
  mayHaveWork(): boolean;
  /**
   * Up to `limit` messages, a moment later at most; none, at once, where none is likely. Rejects, with an error of
   * NATS, where there is no such consumer.
   */
  take(limit: number): Promise<readonly Msg[]>;
  /** A message may have come. */
  hint(): void;
};

type Round = { readonly messages: Msg[]; outstanding: number; readonly settle: () => void };

/**
 * Asks for one message a request, and counts the answers: of a request for several nobody is told when its last one
 * was answered. How many are asked for is how many are likely to be there, by the hints and by what was found before.
 * Where none is, one is asked for all the same, now and then, and nobody waits for it: what comes then, or too late,
 * wakes whoever takes.
 */
export function createLane(
  connection: JetStreamConnection,
  name: LaneName,
  consumer: DurableConsumer,
  lookAgain: () => void,
): Lane {
  const { nats } = connection;
  const next = nextMessages(consumer.stream, consumer.name);
  let inbox: string | null = null;
  let round: Round | null = null;
  let unclaimed: Msg[] = [];
  let refusal: NatsError | null = null;
  let likely = 0;
  let hintedAt = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;

  const keep = (message: Msg): void => {
    unclaimed.push(message);
    likely += 1;
    setTimeout(() => {
      if (!unclaimed.includes(message)) return;
      unclaimed = unclaimed.filter((other) => other !== message);
      if (message.reply) connection.say(message.reply, "-NAK");
    }, keptForMs).unref();
    lookAgain();
  };
  /** An answer to an earlier question may be taken for one to the next: then that one comes when nobody waits for it. */
  const heard = (message: Msg): void => {
    if (!isStatus(message)) {
      if (round === null) keep(message);
      else round.messages.push(message);
    } else if (message.headers?.code === 503) {
      refusal = NatsError.errorForCode(ErrorCode.NoResponders);
      round?.settle();
    }
    if (round === null) return;
    round.outstanding -= 1;
    if (round.outstanding === 0) round.settle();
  };
  /** Delivered messages keep the subject of the stream: what tells them apart is the inbox that they come to. */
  const ask = (count: number): void => {
    askedAt = performance.now();
    if (inbox === null) {
      inbox = createInbox();
      nats.subscribe(inbox, { callback: (_, message) => heard(message) });
    }
    for (let asked = 0; asked < count; asked += 1) connection.say(next, oneSoon, inbox);
  };
  const askAndWait = (count: number): Promise<readonly Msg[]> => {
    const messages: Msg[] = [];
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        round = null;
        resolve(messages);
      };
      const timer = setTimeout(settle, silenceMs);
      round = { messages, outstanding: count, settle };
      ask(count);
    });
  };

  const isDue = (): boolean => performance.now() - askedAt > lookAgainAfterMs;
  const askOnceMore = (): void => {
    likely = Math.max(likely, 1);
    lookAgain();
  };
  const throwRefusal = (): void => {
    const failure = refusal;
    refusal = null;
    if (failure !== null) throw failure;
  };

  return {
    name,
    consumer,
    mayHaveWork: () => likely > 0 || isDue(),
    take: async (limit) => {
      const kept = unclaimed.splice(0, limit);
      if (kept.length > 0) return kept;
      throwRefusal();
      if (likely === 0 && isDue()) ask(1);
      const count = Math.min(limit, likely);
      if (count === 0) return [];
      const before = likely;
      const messages = await askAndWait(count);
      if (messages.length >= count) likely = Math.max(likely - count, 2 * count);
      else {
        // What was hinted at meanwhile may be there by now.
        likely = Math.max(0, likely - before);
        if (performance.now() - hintedAt < hintIsYoungForMs) setTimeout(askOnceMore, askOnceMoreAfterMs).unref();
      }
      if (messages.length === 0) throwRefusal();
      return messages;
    },
    hint: () => {
      likely += 1;
      hintedAt = performance.now();
    },
  };
}

const oneSoon = JSON.stringify({ batch: 1, expires: nanosOf(expiresMs) });
