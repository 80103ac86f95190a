import { createInbox, type Msg } from "nats";
import { type JetStreamConnection, nanosOf } from "./jetstream-connection.ts";
import { isStatus } from "./jetstream-message.ts";

/** How long the server waits for messages before it says that there are none; then it is asked anew. */
const expiresMs = 5000;
const graceMs = 1500;

/** What ended a pull without a single message, and not because time was up. */
export class PullEnded extends Error {
  override readonly name = "PullEnded";
}

export type Pull = {
  /**
   * What has come since the last call, at least one message; waits for it. Throws PullEnded when the consumer is gone
   * or stays silent: make it anew, and begin another pull.
   */
  next(): Promise<readonly Msg[]>;
  close(): void;
};

/**
 * Asks a consumer for messages, `batch` at a time and never more than that ahead of its reader. The client's own
 * iterators prefetch, keep going through a consumer that was deleted, and lose count over a server's crash.
 */
export function openPull(connection: JetStreamConnection, nextSubject: string, batch: number): Pull {
  const { nats } = connection;
  const inbox = createInbox();
  let arrived: Msg[] = [];
  let outstanding = 0;
  let failure: PullEnded | null = null;
  let silence: NodeJS.Timeout | undefined;
  let wake: () => void = () => {};

  const end = (reason: string): void => {
    failure ??= new PullEnded(reason);
    clearTimeout(silence);
    wake();
  };
  /** Only an unfinished pull is owed an answer: a reader may take its time over what came. */
  const expectAnswer = (): void => {
    clearTimeout(silence);
    if (outstanding > 0) silence = setTimeout(() => end("no answer from the server"), expiresMs + graceMs);
  };
  const ask = (): void => {
    outstanding = batch;
    expectAnswer();
    if (connection.isUp()) {
      nats.publish(nextSubject, JSON.stringify({ batch, expires: nanosOf(expiresMs) }), { reply: inbox });
    } else end("no connection");
  };
  const subscription = nats.subscribe(inbox, {
    callback: (_, message) => {
      if (failure !== null) return;
      if (isStatus(message)) {
        // 404 and 408 say that time is up; anything else, that this consumer will not answer again.
        if (message.headers?.code === 404 || message.headers?.code === 408) ask();
        else end(`${message.headers?.code} ${message.headers?.description}`);
        return;
      }
      outstanding -= 1;
      expectAnswer();
      arrived.push(message);
      wake();
    },
  });
  const stopListening = connection.onReconnect(() => end("the connection was lost meanwhile"));

  return {
    next: async () => {
      if (outstanding === 0 && failure === null) ask();
      while (arrived.length === 0 && failure === null) {
        await new Promise<void>((resolve) => {
          wake = resolve;
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
