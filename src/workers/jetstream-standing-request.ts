import { createInbox, type Msg, type Subscription } from "nats";
import { type JetStreamConnection, nanosOf } from "../nats/connection.ts";
import { isStatus } from "../nats/message.ts";

/** A change of leader forgets the request without a word: what comes back after a crash waits for the next one. */
const expiresMs = 5000;
/** For the answer that its time is up, which releases up to 2.9.15 do not give. */
const silenceMs = 100;

/** A request for one message that the server keeps until there is one, for some seconds. */
export type StandingRequest = {
  /** None is left with the server but this one. */
  ask(): void;
  isOut(): boolean;
  /** The server may not know of it any more. */
  forget(): void;
  /** Stops listening, so that the server hands nothing over any more. */
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
