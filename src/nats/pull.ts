import { setTimeout as pause } from "node:timers/promises";
import { createInbox, type Msg } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { type JetStreamConnection, nanosOf } from "./connection.ts";
import { deliveryOf, isStatus } from "./message.ts";

/**
 * How long the server waits for messages. The next pull is sent before that: releases up to 2.9.15 sometimes omit the
 * message that time is up, and a client that waits for it misses the messages in between.
 */
const expiresMs = 5000;
const askAgainMs = 4500;
/** The server answers at once whether messages are there. */
const askAgainAtOnceMs = 500;
/**
 * While there is nothing to deliver, the server sends a heartbeat every second; silence means that it, or the consumer,
 * is gone.
 */
const heartbeatMs = 1000;
const silenceMs = 2500;
const tickMs = 250;

const request = (batch: number): string =>
  JSON.stringify({ batch, expires: nanosOf(expiresMs), idle_heartbeat: nanosOf(heartbeatMs) });
const requestOfWhatIsThere = (batch: number): string => JSON.stringify({ batch, no_wait: true });

/** Statuses that are no fault: a heartbeat, and the end of a pull that another one has replaced, or that asked for what was there. */
const heartbeat = 100;
const ends: readonly number[] = [404, 408];

/** How many messages of the consumer wait behind this one. NATS 2.9 sometimes counts below zero, and says 2^64 - 1. */
function countIn(message: Msg): number | null {
  const { pending } = deliveryOf(message);
  return Number.isSafeInteger(pending) ? pending : null;
}

const codeOf = (status: Msg): number => status.headers?.code ?? 0;

/** A pull ended without a single message, and not because its time was up. */
export class PullEnded extends Unavailable {}

export type Pull = {
  /**
   * The messages since the last call, at least one unless the consumer has come to the end; waits for it. Throws PullEnded
   * when the consumer is gone or stays silent: create it again, and start another pull.
   */
  next(): Promise<readonly Msg[]>;
  close(): void;
};

export type PullOptions = {
  /** How many messages to ask for at a time. */
  readonly batch: number;
  /**
   * How long to leave a stream alone after its last message, asked before each rest. The first message for a while comes
   * at once; of a steady flow, those of this time come together. One by one, each costs server and client as much as ten
   * together. Without it, there is no rest.
   */
  readonly restMs?: () => number;
  /** The sequence of the end, for a stream that messages are removed from; without it, there is always more to come. */
  readonly end?: number;
};

/** What a heartbeat says of the messages of the stream that the consumer has passed, delivered or not. */
const passedHeader = "Nats-Last-Stream";

/**
 * Requests messages from a consumer, `batch` at a time and hardly more than that ahead of its reader. The client's own
 * iterators prefetch, continue after a consumer was deleted, and lose count over a server's crash.
 */
export function openPull(
  connection: JetStreamConnection,
  nextSubject: string,
  { batch, restMs, end: lastWanted }: PullOptions,
): Pull {
  const { nats } = connection;
  const inbox = createInbox();
  let arrived: Msg[] = [];
  let outstanding = 0;
  /** How many messages wait at the server; null if it does not say. */
  let waiting: number | null = restMs === undefined ? null : 0;
  let arrivedAt = Number.NEGATIVE_INFINITY;
  /** How many messages have come since the last rest. Several are a steady flow, and so are two rests one after the other. */
  let together = 0;
  let hasRested = false;
  /** Whether the last request was for what is there, however much that is: of a steady flow, one request brings it all. */
  let asksAll = false;
  let isAtEnd = false;
  let failure: PullEnded | null = null;
  // Checked periodically, because a separate timer for each message costs more than the message.
  let ticksSinceAsked = 0;
  let ticksOfSilence = 0;
  let notify: () => void = () => {};

  const end = (reason: string): void => {
    failure ??= new PullEnded(reason);
    clearInterval(clock);
    notify();
  };
  const send = (text: string): void => {
    ticksSinceAsked = 0;
    ticksOfSilence = 0;
    if (connection.isUp()) nats.publish(nextSubject, text, { reply: inbox });
    else end("no connection");
  };
  const ask = (): void => {
    asksAll = false;
    // One message says how many are behind it: a request for more than there are would get each of the others alone.
    outstanding = Math.min(batch, Math.max(1, waiting ?? batch));
    send(request(outstanding));
  };
  const askForAll = (): void => {
    asksAll = true;
    outstanding = batch;
    send(requestOfWhatIsThere(batch));
  };
  const clock = setInterval(() => {
    ticksSinceAsked += 1;
    ticksOfSilence += 1;
    // Only an unfinished pull is owed an answer: a reader may take its time over the messages that it has.
    if (outstanding === 0) return;
    if (ticksOfSilence * tickMs >= silenceMs) {
      // A process that does nothing but read would not find out by anything else that its node has lost the others.
      connection.unanswered();
      end("no answer from the server");
    } else if (ticksSinceAsked * tickMs >= (asksAll ? askAgainAtOnceMs : askAgainMs)) ask();
  }, tickMs);
  const subscription = nats.subscribe(inbox, {
    callback: (_, message) => {
      if (failure !== null) return;
      ticksOfSilence = 0;
      if (!isStatus(message)) {
        outstanding = Math.max(0, outstanding - 1);
        arrived.push(message);
        if (restMs !== undefined) waiting = countIn(message);
        if (asksAll && waiting === 0) outstanding = 0;
        together += 1;
        arrivedAt = performance.now();
        notify();
      } else if (ends.includes(codeOf(message))) {
        if (!asksAll || outstanding === 0) return;
        outstanding = 0;
        // The flow has ended: the next message shall come at once.
        if (arrived.length === 0) ask();
      } else if (codeOf(message) !== heartbeat) {
        end(`${codeOf(message)} ${message.headers?.description}`);
      } else if (lastWanted !== undefined && Number(message.headers?.get(passedHeader)) >= lastWanted) {
        isAtEnd = true;
        notify();
      }
    },
  });
  const stopListening = connection.onReconnect(() => end("the connection was lost meanwhile"));

  return {
    next: async () => {
      if (outstanding === 0 && waiting === 0 && arrived.length === 0) {
        const leftMs = arrivedAt + (restMs?.() ?? 0) - performance.now();
        if (leftMs > 0) await pause(leftMs);
        const isSteady = together > 1 || hasRested;
        together = 0;
        hasRested = leftMs > 0;
        if (failure === null) isSteady ? askForAll() : ask();
      } else if (outstanding === 0 && waiting !== 0 && failure === null) {
        // More of them wait: they come while the reader is busy with these.
        ask();
      }
      while (arrived.length === 0 && failure === null && !isAtEnd) {
        await new Promise<void>((resolve) => {
          notify = resolve;
        });
      }
      if (arrived.length === 0 && failure !== null) throw failure;
      const batchOfNow = arrived;
      arrived = [];
      return batchOfNow;
    },
    close: () => {
      end("closed");
      stopListening();
      if (!nats.isClosed()) subscription.unsubscribe();
    },
  };
}
