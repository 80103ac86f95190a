import { createInbox, ErrorCode, type Msg, NatsError } from "nats";
import type { Lane as LaneName } from "../event-log/event-log.ts";
import { type JetStreamConnection, nanosOf } from "../nats/connection.ts";
import { type DurableConsumer, nextMessages } from "../nats/consumers.ts";
import { isStatus } from "../nats/message.ts";
import { createStandingRequest } from "./jetstream-standing-request.ts";

/**
 * How long the server keeps a request for which there is no message. With `no_wait` the server would answer at once, but
 * NATS 2.9 scans the subjects of the log for that, and scans more of them each time.
 */
const expiresMs = 100;
/** Releases up to 2.9.15 do not report that the time is up. */
const silenceMs = 150;
/** A worker that has turns in hand asks an empty lane again after this, with or without a hint. */
const lookAgainAfterMs = 500;
/** A hint may arrive before its message is in the log: then the worker asks the lane once more, a moment later. */
const hintIsYoungForMs = 50;
const askOnceMoreAfterMs = 20;
/** A message that arrives while no take waits for it is handed back after this, unless it is taken first. */
const keptForMs = 50;
/**
 * For each turn that a worker has in hand, it leaves a new turn to the other workers for this long. An idle worker needs a
 * millisecond or two to ask; where all workers are busy, a turn that waits for longer is taken without further delay.
 */
const leaveToOthersMs = 20;
/** Once a turn has waited this long, a busy worker asks for as many turns as it has room for. */
const leftByAllAfterMs = 200;
/** The server answers a standing request the moment a turn arrives; a request that the server lost would hide the turn. */
const standingAnswersWithinMs = 200;

/** The turns of one lane, handed out by the consumer that all workers share. */
export type Lane = {
  readonly name: LaneName;
  readonly consumer: DurableConsumer;
  /** A message is likely to be there, or the lane has not been looked at for a while. */
  mayHaveWork(): boolean;
  /**
   * Up to `limit` messages, after a moment at most, and fewer the more are in hand; none, at once, where none is likely.
   * Rejects with an error of NATS where the consumer does not exist.
   */
  take(limit: number, inHand: number): Promise<readonly Msg[]>;
  /** Call this when a message may have come. */
  hint(): void;
  /** Call this when the server may have lost all requests, and messages may have come. */
  reconnected(): void;
  /** Takes no more messages: the server hands the remaining ones to other workers. */
  close(): void;
};

type Round = { readonly messages: Msg[]; outstanding: number; readonly settle: () => void };

/**
 * Sends one request per message, and counts the answers: for a request for several messages, the server does not report
 * when it has answered the last one. The number of requests is the number of messages that are likely to be there, by the
 * hints and by what was found before. An idle worker leaves one request with the server for seconds, which costs an idle
 * service next to nothing; a busy worker asks now and then, and does not wait for the answer. A message that arrives in
 * between, or too late, makes the worker look for work.
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
  /** The time since which a message is likely to be there. */
  let likelySince = Number.NEGATIVE_INFINITY;
  let hintedAt = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;
  let looking: NodeJS.Timeout | undefined;

  const expect = (atLeast: number): void => {
    if (likely === 0) likelySince = performance.now();
    likely = Math.max(likely, atLeast);
  };
  const lookAgainIn = (ms: number): void => {
    clearTimeout(looking);
    looking = setTimeout(lookAgain, ms).unref();
  };
  const handBack = (message: Msg): void => {
    if (message.reply) connection.say(message.reply, "-NAK");
  };
  const keep = (message: Msg): void => {
    unclaimed.push(message);
    expect(likely + 1);
    setTimeout(() => {
      if (!unclaimed.includes(message)) return;
      unclaimed = unclaimed.filter((other) => other !== message);
      handBack(message);
    }, keptForMs).unref();
    lookAgain();
  };
  const refuse = (): void => {
    refusal = NatsError.errorForCode(ErrorCode.NoResponders);
    round?.settle();
  };
  const standing = createStandingRequest(connection, next, { came: keep, refused: refuse });
  /** A late answer may be counted for the next request: then the answer to that one arrives while no take waits for it. */
  const heard = (message: Msg): void => {
    if (!isStatus(message)) {
      if (round === null) keep(message);
      else round.messages.push(message);
    } else if (message.headers?.code === 503) refuse();
    if (round === null) return;
    round.outstanding -= 1;
    if (round.outstanding === 0) round.settle();
  };
  /** Delivered messages keep the subject of the stream: only the inbox that receives them identifies the request. */
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

  const isDue = (): boolean => !standing.isOut() && performance.now() - askedAt > lookAgainAfterMs;
  const look = (inHand: number): void => {
    if (inHand === 0 && !standing.isOut()) {
      standing.ask();
      askedAt = performance.now();
    } else if (likely === 0 && isDue()) ask(1);
  };
  /** How many messages a worker with so many in hand may ask for now; where it is too early, the lane checks again later. */
  const fairCount = (limit: number, inHand: number): number => {
    const wanted = Math.min(limit, likely);
    if (wanted === 0) return 0;
    const now = performance.now();
    if (standing.isOut() || inHand > 0) {
      const isLeftSince = likelySince + (standing.isOut() ? standingAnswersWithinMs : inHand * leaveToOthersMs);
      // However long this process was stopped meanwhile: the other processes may have been stopped, too.
      const waitMs = Math.max(isLeftSince, now - likelySince < leftByAllAfterMs ? askedAt + leaveToOthersMs : 0) - now;
      if (waitMs > 0) {
        lookAgainIn(Math.ceil(waitMs));
        return 0;
      }
    }
    return now - likelySince < leftByAllAfterMs ? 1 : wanted;
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
    take: async (limit, inHand) => {
      const kept = unclaimed.splice(0, limit);
      if (kept.length > 0) return kept;
      throwRefusal();
      look(inHand);
      const count = fairCount(limit, inHand);
      if (count === 0) return [];
      const before = likely;
      const messages = await askAndWait(count);
      if (messages.length >= count) likely = Math.max(likely - count, 2 * count);
      else {
        // A message that was hinted at meanwhile may be there by now.
        likely = Math.max(0, likely - before);
        if (performance.now() - hintedAt < hintIsYoungForMs) {
          setTimeout(() => {
            expect(1);
            lookAgain();
          }, askOnceMoreAfterMs).unref();
        }
      }
      if (messages.length === 0) throwRefusal();
      return messages;
    },
    hint: () => {
      expect(likely + 1);
      hintedAt = performance.now();
    },
    reconnected: () => {
      standing.forget();
      expect(likely + 1);
    },
    close: () => {
      clearTimeout(looking);
      standing.close();
      for (const message of unclaimed.splice(0)) handBack(message);
    },
  };
}

const oneSoon = JSON.stringify({ batch: 1, expires: nanosOf(expiresMs) });
