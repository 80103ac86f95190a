import { createInbox, type Msg, type Subscription } from "nats";
import { type JetStreamConnection, nanosOf } from "../nats/connection.ts";
import { isStatus } from "../nats/message.ts";

/** A new leader silently forgets the request: a turn that comes back after a crash waits for the next request. */
const expiresMs = 5000;
/** The extra wait for the server's report that the time is up, which releases up to 2.9.15 do not send. */
const silenceMs = 100;

/** A request for one message, which the server keeps for some seconds until there is one. */
export type StandingRequest = {
  /** Sends a request; after that the server keeps this one and no other. */
  ask(): void;
  isOut(): boolean;
  /** Drops the request, which the server may have lost. */
  forget(): void;
  /** Stops listening, so that the server hands over nothing more. */
  close(): void;
};

type Answers = { readonly came: (message: Msg) => void; readonly refused: () => void };

export function createStandingRequest(
  connection: JetStreamConnection,
  next: string,
  { came, refused }: Answers,
): StandingRequest {
  const { nats } = connection;
  let inbox = "";
  let subscription: Subscription | null = null;
  let outUntil = Number.NEGATIVE_INFINITY;

  const heard = (message: Msg): void => {
    outUntil = Number.NEGATIVE_INFINITY;
    if (!isStatus(message)) came(message);
    else if (message.headers?.code === 503) refused();
  };

  return {
    ask: () => {
      if (subscription === null) {
        inbox = createInbox();
        subscription = nats.subscribe(inbox, { callback: (_, message) => heard(message) });
      }
      outUntil = performance.now() + expiresMs + silenceMs;
      connection.say(next, oneLater, inbox);
    },
    isOut: () => performance.now() < outUntil,
    forget: () => {
      outUntil = Number.NEGATIVE_INFINITY;
    },
    close: () => {
      if (!nats.isClosed()) subscription?.unsubscribe();
      subscription = null;
      outUntil = Number.NEGATIVE_INFINITY;
    },
  };
}

const oneLater = JSON.stringify({ batch: 1, expires: nanosOf(expiresMs) });
