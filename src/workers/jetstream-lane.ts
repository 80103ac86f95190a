import { createInbox, ErrorCode, type Msg, NatsError } from "nats";
import type { Lane as LaneName } from "../event-log/event-log.ts";
import { type JetStreamConnection, nanosOf } from "../nats/connection.ts";
import { type DurableConsumer, nextMessages } from "../nats/consumers.ts";
import { isStatus } from "../nats/message.ts";
import { createStandingRequest } from "./jetstream-standing-request.ts";

/**
 * How long the server keeps a request for which there is no message. With `no_wait` it would say so at once, but 2.9
 * looks through the subjects of the log for that, each time through more of them.
 */
const expiresMs = 100;
/** Releases up to 2.9.15 forget to say when the time is up. */
const silenceMs = 150;
/** A lane that was found empty is asked again after this, hint or no hint, by a worker that has turns in hand. */
const lookAgainAfterMs = 500;
/** A hint may be here before its message is in the log: then the lane is asked once more, a moment later. */
const hintIsYoungForMs = 50;
const askOnceMoreAfterMs = 20;
/** A message that came when no take waited for it is handed back after this, unless it was taken. */
const keptForMs = 50;
/**
 * For each turn that a worker has in hand it leaves a new one to the others for so long. An idle worker needs a
 * millisecond or two to ask; where all are busy, what waits for longer is taken without any delay.
 */
const leaveToOthersMs = 20;
/** From then on one that is busy asks for as many as it has room for. */
const leftByAllAfterMs = 200;
/** A standing request is answered the moment that a turn comes; one that was lost on the server would hide it. */
const standingAnswersWithinMs = 200;

/** The turns of one lane, as the consumer that all workers share hands them out. */
export type Lane = {
  readonly name: LaneName;
  readonly consumer: DurableConsumer;
  /** A message is likely to be there, or the lane was not looked at for a while. */
  mayHaveWork(): boolean;
  /**
   * Up to `limit` messages, a moment later at most, and fewer the more are in hand; none, at once, where none is
   * likely. Rejects, with an error of NATS, where there is no such consumer.
   */
  take(limit: number, inHand: number): Promise<readonly Msg[]>;
  /** A message may have come. */
  hint(): void;
  /** The server may know of no request any more, and messages may have come. */
  reconnected(): void;
  /** Nothing is taken any more: what the server would still hand over goes to others. */
  close(): void;
};

type Round = { readonly messages: Msg[]; outstanding: number; readonly settle: () => void };

/**
 * Asks for one message a request, and counts the answers: of a request for several the server does not say when its last one
 * was answered. How many are asked for is how many are likely to be there, by the hints and by what was found before.
 * A worker with nothing in hand leaves one request with the server for seconds, which costs an idle service next to
 * nothing; one that is busy asks now and then, and does not wait for it. What comes then, or too late, wakes the worker.
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
  /** Since when something is likely to be there. */
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
  /** An answer to an earlier question may be taken for one to the next: then that one comes when no take waits for it. */
  const heard = (message: Msg): void => {
    if (!isStatus(message)) {
      if (round === null) keep(message);
      else round.messages.push(message);
    } else if (message.headers?.code === 503) refuse();
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

  const isDue = (): boolean => !standing.isOut() && performance.now() - askedAt > lookAgainAfterMs;
  const look = (inHand: number): void => {
    if (inHand === 0 && !standing.isOut()) {
      standing.ask();
      askedAt = performance.now();
    } else if (likely === 0 && isDue()) ask(1);
  };
  /** How many a worker may ask for now that has so many in hand; where it is too early, it looks again when it may. */
  const fairCount = (limit: number, inHand: number): number => {
    const wanted = Math.min(limit, likely);
    if (wanted === 0) return 0;
    const now = performance.now();
    if (standing.isOut() || inHand > 0) {
      const isLeftSince = likelySince + (standing.isOut() ? standingAnswersWithinMs : inHand * leaveToOthersMs);
      // However long the process stood still meanwhile: others may have done so, too.
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
        // What was hinted at meanwhile may be there by now.
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
