import { createInbox, type Msg } from "nats";
import { type JetStreamConnection, nanosOf } from "./connection.ts";
import { isStatus } from "./message.ts";

/**
 * How long the server waits for messages. The next pull is sent before that: releases up to 2.9.15 sometimes omit the
 * message that time is up, and a client that waits for it misses the messages in between.
 */
const expiresMs = 5000;
const askAgainMs = 4500;
/**
 * While there is nothing to deliver, the server sends a heartbeat every second; silence means that it, or the consumer,
 * is gone.
 */
const heartbeatMs = 1000;
const silenceMs = 2500;
const tickMs = 250;

const request = (batch: number): string =>
  JSON.stringify({ batch, expires: nanosOf(expiresMs), idle_heartbeat: nanosOf(heartbeatMs) });

/** Statuses that need no action: a heartbeat, and the end of a pull that another one has replaced. */
const harmless: readonly number[] = [100, 404, 408];

/** A pull ended without a single message, and not because its time was up. */
export class PullEnded extends Error {
  override readonly name = "PullEnded";
}

export type Pull = {
  /**
   * The messages since the last call, at least one; waits for it. Throws PullEnded when the consumer is gone or stays
   * silent: create it again, and start another pull.
   */
  next(): Promise<readonly Msg[]>;
  close(): void;
};

/**
 * Requests messages from a consumer, `batch` at a time and hardly more than that ahead of its reader. The client's own
 * iterators prefetch, continue after a consumer was deleted, and lose count over a server's crash.
 */
export function openPull(connection: JetStreamConnection, nextSubject: string, batch: number): Pull {
  const { nats } = connection;
  const inbox = createInbox();
  let arrived: Msg[] = [];
  let outstanding = 0;
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
  const ask = (): void => {
    outstanding = batch;
    ticksSinceAsked = 0;
    ticksOfSilence = 0;
    if (connection.isUp()) nats.publish(nextSubject, request(batch), { reply: inbox });
    else end("no connection");
  };
  const clock = setInterval(() => {
    ticksSinceAsked += 1;
    ticksOfSilence += 1;
    // Only an unfinished pull is owed an answer: a reader may take its time over the messages that it has.
    if (outstanding === 0) return;
    if (ticksOfSilence * tickMs >= silenceMs) end("no answer from the server");
    else if (ticksSinceAsked * tickMs >= askAgainMs) ask();
  }, tickMs);
  const subscription = nats.subscribe(inbox, {
    callback: (_, message) => {
      if (failure !== null) return;
      ticksOfSilence = 0;
      if (!isStatus(message)) {
        outstanding = Math.max(0, outstanding - 1);
        arrived.push(message);
        notify();
      } else if (!harmless.includes(message.headers?.code ?? 0)) {
        end(`${message.headers?.code} ${message.headers?.description}`);
      }
    },
  });
  const stopListening = connection.onReconnect(() => end("the connection was lost meanwhile"));

  return {
    next: async () => {
      if (outstanding === 0 && failure === null) ask();
      while (arrived.length === 0 && failure === null) {
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
