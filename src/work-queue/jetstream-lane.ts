import { createInbox, ErrorCode, type Msg, NatsError } from "nats";
import type { Lane as LaneName } from "../event-log/event-log.ts";
import type { JetStreamConnection } from "../event-log/jetstream-connection.ts";
import { type DurableConsumer, nextMessages } from "../event-log/jetstream-durable.ts";
import { isStatus } from "../event-log/jetstream-message.ts";

const answerTimeoutMs = 1500;
/** A lane that was found empty is asked again after this, hint or no hint. */
const lookAgainAfterMs = 500;
/** A hint may be here before its message is in the log: then the lane is asked once more, a moment later. */
const hintIsYoungForMs = 50;
const askOnceMoreAfterMs = 20;

/** The turns of one lane, as the consumer that all workers share hands them out. */
export type Lane = {
  readonly name: LaneName;
  readonly consumer: DurableConsumer;
  /** Something is likely to be there, or nobody has looked for a while. */
  mayHaveWork(): boolean;
  /** Up to `limit` messages, at once; none where none is likely. Rejects, with an error of NATS, without an answer. */
  take(limit: number): Promise<readonly Msg[]>;
  /** A message may have come. */
  hint(): void;
};

type Round = { readonly messages: Msg[]; outstanding: number; settle: (failure: NatsError | null) => void };

/**
 * Asks for one message a request, and counts the answers: of a request for several nobody is told when its last one
 * was answered. How many are asked for is how many are likely to be there, by the hints and by what was found before.
 */
export function createLane(
  connection: JetStreamConnection,
  name: LaneName,
  consumer: DurableConsumer,
  lookAgain: () => void,
): Lane {
  const { nats } = connection;
  let inbox: string | null = null;
  let stopListening: () => void = () => {};
  let round: Round | null = null;
  let likely = 0;
  let hintedAt = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;

  const heard = (message: Msg): void => {
    if (round === null) return;
    if (isStatus(message) && message.headers?.code === 503) {
      round.settle(NatsError.errorForCode(ErrorCode.NoResponders));
      return;
    }
    if (!isStatus(message)) round.messages.push(message);
    round.outstanding -= 1;
    if (round.outstanding === 0) round.settle(null);
  };
  /** Delivered messages keep the subject of the stream: what tells them apart is the inbox that they come to. */
  const listen = (): string => {
    const subject = createInbox();
    const subscription = nats.subscribe(subject, { callback: (_, message) => heard(message) });
    stopListening = () => {
      if (!nats.isClosed()) subscription.unsubscribe();
      inbox = null;
    };
    inbox = subject;
    return subject;
  };

  const ask = async (count: number): Promise<readonly Msg[]> => {
    const reply = inbox ?? listen();
    const messages: Msg[] = [];
    const failure = await new Promise<NatsError | null>((resolve) => {
      const timer = setTimeout(() => round?.settle(NatsError.errorForCode(ErrorCode.Timeout)), answerTimeoutMs);
      const settle = (end: NatsError | null): void => {
        clearTimeout(timer);
        round = null;
        resolve(end);
      };
      round = { messages, outstanding: count, settle };
      const subject = nextMessages(consumer.stream, consumer.name);
      for (let asked = 0; asked < count; asked += 1) nats.publish(subject, oneAtOnce, { reply });
    });
    // An answer that comes yet must not be taken for one to the next question; its message comes again by itself.
    if (failure !== null) stopListening();
    if (failure !== null && messages.length === 0) throw failure;
    return messages;
  };

  const isDue = (): boolean => performance.now() - askedAt > lookAgainAfterMs;
  const askOnceMore = (): void => {
    likely = Math.max(likely, 1);
    lookAgain();
  };

  return {
    name,
    consumer,
    mayHaveWork: () => likely > 0 || isDue(),
    take: async (limit) => {
      const count = Math.min(limit, likely === 0 && isDue() ? 1 : likely);
      if (count === 0) return [];
      askedAt = performance.now();
      const before = likely;
      const messages = await ask(count);
      if (messages.length === count) likely = Math.max(likely - count, 2 * count);
      else {
        // What was hinted at meanwhile may be there by now.
        likely = Math.max(0, likely - before);
        if (performance.now() - hintedAt < hintIsYoungForMs) setTimeout(askOnceMore, askOnceMoreAfterMs).unref();
      }
      return messages;
    },
    hint: () => {
      likely += 1;
      hintedAt = performance.now();
    },
  };
}

const oneAtOnce = '{"batch":1,"no_wait":true}';
