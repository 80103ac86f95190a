import { createInbox, type Msg } from "nats";
import { isClustered, type JetStreamConnection, nanosOf } from "../nats/connection.ts";
import { type DurableConsumer, nextMessages } from "../nats/consumers.ts";
import { deliveryOf, isStatus } from "../nats/message.ts";

/** An answer that does not come within this time may still come, and counts as an arrival then. */
const answerMs = 150;
/**
 * How long a request waits at the server. It serves the oldest first: a worker with turns in hand renews its requests so
 * often that those of idle workers are older. Each renewal costs the server the more, the more workers wait. A lost
 * connection ends a request at once, and so does a deleted consumer, but not where NATS 2.9 loses it with its stream. A
 * cluster loses it where the leader of a consumer dies, and says only who leads next.
 */
const idleMs = 20_000;
const idleInClusterMs = 15_000;
const busyMs = 250;
/** Releases up to 2.9.15 sometimes do not report that the time is up. */
const slackMs = 100;
/** The time for which an answer that there is nothing stays true enough to go on to the next lane, and to wait again. */
const emptyForMs = 50;
/** A message that arrives while no take waits for it is handed back after this, unless it is taken first. */
const keptForMs = 50;

/** What the lanes of a worker have to know of it, and what they tell it. */
export type Taker = {
  inHand: number;
  /** How many more turns the worker may be given. */
  room: number;
  /** Before this moment a worker with turns in hand leaves those that wait to others. */
  askAt: number;
  /** Turns have waited for so long that all workers must be busy: it may ask for several together. */
  isBehind: boolean;
  /** The worker has got one more. */
  took(): void;
  /** It is time to take again. */
  arrived(): void;
  /** The consumer may not exist. */
  doubt(): void;
};

/** The turns of one lane, handed out by the consumer that all workers share. */
export type Lane = {
  readonly consumer: DurableConsumer;
  mayHaveWork(): boolean;
  /** Up to `limit` messages; none where none is there, and then the next one arrives without being asked for. */
  take(limit: number): Promise<readonly Msg[]>;
  /** The server may have lost the request, and messages may have come. */
  renew(): void;
  /** Takes no more messages: the server hands the others to other workers. */
  close(): void;
};

/**
 * One request at a time: a short one where there may be a message, so that the lanes are served in their order, and one
 * that waits at the server where there is none. A message that comes to a worker without room for it, or by a request
 * from when the worker was idle, goes back to the server, and from there to the next worker that waits.
 */
export function createLane(connection: JetStreamConnection, consumer: DurableConsumer, taker: Taker): Lane {
  const { nats } = connection;
  const next = nextMessages(consumer.stream, consumer.name);
  const inbox = createInbox();
  let kept: Msg[] = [];
  let answer: ((message: Msg | null) => void) | null = null;
  let standing: { readonly isIdle: boolean; timer: NodeJS.Timeout } | null = null;
  let emptyAt = Number.NEGATIVE_INFINITY;
  /** How many messages waited behind the last one that was taken. */
  let behind = 0;

  const handBack = (message: Msg): void => {
    emptyAt = Number.NEGATIVE_INFINITY;
    if (message.reply) connection.say(message.reply, "-NAK");
  };
  const endStanding = (): boolean => {
    const { isIdle, timer } = standing ?? { isIdle: false };
    clearTimeout(timer);
    standing = null;
    return isIdle;
  };
  const keep = (message: Msg): void => {
    taker.room -= 1;
    kept.push(message);
    setTimeout(() => {
      if (!kept.includes(message)) return;
      kept = kept.filter((other) => other !== message);
      handBack(message);
    }, keptForMs).unref();
  };
  const arrive = (message: Msg): void => {
    const wasIdle = endStanding();
    if (taker.room <= 0 || (wasIdle && taker.inHand > 0)) handBack(message);
    else keep(message);
    taker.arrived();
  };
  const over = (): void => {
    endStanding();
    taker.arrived();
  };
  const heard = (message: Msg): void => {
    const isNews = !isStatus(message);
    const code = message.headers?.code ?? 0;
    if (!isNews && !timeIsUp.includes(code)) taker.doubt();
    if (answer !== null) answer(isNews ? message : null);
    else if (isNews) arrive(message);
    else if (timeIsUp.includes(code)) {
      emptyAt = performance.now();
      over();
    }
    // Too many workers wait, or the consumer is gone: asked again at once, the server would say the same at once.
    else if (standing !== null) {
      clearTimeout(standing.timer);
      standing.timer = setTimeout(over, busyMs).unref();
    }
  };
  const subscription = nats.subscribe(inbox, { callback: (_, message) => heard(message) });

  /** Up to `count` messages that wait now: a status says that there are no more. */
  const ask = (count: number): Promise<readonly Msg[]> =>
    new Promise((resolve) => {
      const messages: Msg[] = [];
      const settle = (): void => {
        clearTimeout(timer);
        answer = null;
        resolve(messages);
      };
      const timer = setTimeout(() => {
        taker.doubt();
        settle();
      }, answerMs);
      answer = (message) => {
        if (message !== null) messages.push(message);
        if (message === null || messages.length === count) settle();
      };
      connection.say(next, JSON.stringify({ batch: count, no_wait: true }), inbox);
    });
  /** Silence may mean that the consumer was deleted: releases up to 2.9 do not answer for one that is not there. */
  const wait = (): void => {
    const isIdle = taker.inHand === 0;
    const forMs = !isIdle ? busyMs : isClustered(connection) ? idleInClusterMs : idleMs;
    const timer = setTimeout(() => {
      taker.doubt();
      over();
    }, forMs + slackMs).unref();
    standing = { isIdle, timer };
    connection.say(next, JSON.stringify({ batch: 1, expires: nanosOf(forMs) }), inbox);
  };
  const isEmpty = (): boolean => performance.now() - emptyAt < emptyForMs;

  return {
    consumer,
    mayHaveWork: () => kept.length > 0 || (standing === null && !isEmpty()),
    take: async (limit) => {
      const taken = kept.splice(0, limit);
      for (const _ of taken) taker.took();
      while (taken.length < limit && standing === null && !isEmpty() && performance.now() >= taker.askAt) {
        const wanted = taker.isBehind ? Math.max(1, Math.min(limit - taken.length, behind)) : 1;
        const messages = await ask(wanted);
        const last = messages.at(-1);
        behind = last === undefined ? 0 : deliveryOf(last).pending;
        if (messages.length < wanted || behind === 0) emptyAt = performance.now();
        for (const _ of messages) taker.took();
        taken.push(...messages);
      }
      if (standing === null && isEmpty()) wait();
      return taken;
    },
    renew: () => {
      endStanding();
      emptyAt = Number.NEGATIVE_INFINITY;
    },
    close: () => {
      endStanding();
      for (const message of kept.splice(0)) handBack(message);
      if (!nats.isClosed()) subscription.unsubscribe();
    },
  };
}

/** Statuses that are no news of the consumer: there is nothing, or others wait for what there is. */
const timeIsUp: readonly number[] = [404, 408];
