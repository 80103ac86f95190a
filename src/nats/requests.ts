import {
  createInbox,
  ErrorCode,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  NatsError,
  type PublishOptions,
} from "nats";
import { isStatus } from "./message.ts";

/** The time limit of an answer; after it, whether the request was carried out is unknown. */
export const answerTimeoutMs = 1500;
/** A new leader answers within this what has just been sent to it. */
const hurriedMs = 300;

export type Requests = {
  /** Resolves with the answer; rejects, with an error of NATS, if none comes in time. */
  request(subject: string, data: Uint8Array | string, headers?: MsgHdrs): Promise<Msg>;
  /**
   * Publishes a message that needs no answer, or one whose answer goes to `reply`. Never throws: a message that cannot
   * be sent is lost, like any message in flight.
   */
  say(subject: string, data: string, reply?: string): void;
  /** Uses the connection in order with the requests and messages, so that everything leaves in the same write. */
  along(act: () => void): void;
  /** Writes the buffered messages. */
  flush(): void;
  /** Fails the requests for a subject that the server does not let this client publish to. */
  refuse(subject: string): void;
  /**
   * Waits only a moment longer for the answers to the requests in flight: another node leads since, and what was sent to
   * the former leader may have no answer.
   */
  hurry(): void;
  /** Holds back requests and messages from now on; `release` sends them. */
  hold(): void;
  release(): void;
  /** The number of requests that wait for their answer, without those that are held back. */
  inFlight(): number;
};

type Open = {
  readonly subject: string;
  deadline: number;
  readonly resolve: (answer: Msg) => void;
  readonly reject: (failure: NatsError) => void;
};

/**
 * Sends all requests over one inbox and with one timer: a worker makes two for every mail, and the client's own
 * implementation costs as much as composing a mail, with three error objects for each request that succeeds. The
 * requests of one turn of the event loop leave in one write.
 */
export function createRequests(
  nats: NatsConnection,
  isUp: () => boolean,
  onUnanswered: () => void = () => {},
): Requests {
  const inbox = createInbox();
  /** In the order of their deadlines, because all have the same time limit. */
  const open = new Map<string, Open>();
  let outgoing: (() => void)[] = [];
  let asked = 0;
  let held = 0;
  let isHeld = false;
  let timer: NodeJS.Timeout | null = null;

  const close = (token: string): Open | undefined => {
    const request = open.get(token);
    open.delete(token);
    if (open.size === 0 && timer !== null) {
      clearTimeout(timer);
      timer = null;
    }
    return request;
  };
  const fail = (token: string, failure: NatsError): void => close(token)?.reject(failure);

  const expire = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const now = performance.now();
    for (const [token, { deadline }] of open) {
      if (deadline > now) {
        expireIn(deadline - now);
        return;
      }
      fail(token, NatsError.errorForCode(ErrorCode.Timeout));
      onUnanswered();
    }
  };

  /** A process that stood still finds the time up before it reads the answers that have come meanwhile: they count. */
  const expireIn = (ms: number): void => {
    timer = setTimeout(() => setImmediate(expire), ms);
  };

  const publish = (subject: string, data: Uint8Array | string, options: PublishOptions): void => {
    // Without a connection the client would keep the message, and send it long after the caller has received an error.
    if (!isUp()) throw NatsError.errorForCode(ErrorCode.Disconnect);
    nats.publish(subject, data, options);
  };
  const flush = (): void => {
    if (isHeld) return;
    const batch = outgoing;
    outgoing = [];
    held = 0;
    for (const act of batch) act();
  };
  const along = (act: () => void): void => {
    if (outgoing.length === 0) setImmediate(flush);
    outgoing.push(act);
  };
  const ask = (token: string, subject: string, data: Uint8Array | string, headers: MsgHdrs | undefined): void => {
    const reply = `${inbox}.${token}`;
    try {
      publish(subject, data, headers === undefined ? { reply } : { reply, headers });
    } catch (failure) {
      // The client sends nothing but NATS errors here.
      fail(token, failure as NatsError);
    }
  };
  const say = (subject: string, data: string, options: PublishOptions): void => {
    try {
      publish(subject, data, options);
    } catch {
      // Lost.
    }
  };

  nats.subscribe(`${inbox}.*`, {
    callback: (failure, message) => {
      if (failure !== null) return;
      const token = message.subject.slice(inbox.length + 1);
      if (isStatus(message) && message.headers?.code === 503) {
        fail(token, NatsError.errorForCode(ErrorCode.NoResponders));
      } else close(token)?.resolve(message);
    },
  });

  const refuse = (isMeant: (request: Open) => boolean, code: ErrorCode): void => {
    for (const [token, request] of open) if (isMeant(request)) fail(token, NatsError.errorForCode(code));
  };
  nats.closed().then(
    () => refuse(() => true, ErrorCode.ConnectionClosed),
    () => {},
  );

  return {
    request: (subject, data, headers) =>
      new Promise((resolve, reject) => {
        asked += 1;
        const token = asked.toString(36);
        if (isHeld) held += 1;
        open.set(token, { subject, deadline: performance.now() + answerTimeoutMs, resolve, reject });
        if (timer === null) expireIn(answerTimeoutMs);
        along(() => ask(token, subject, data, headers));
      }),
    hurry: () => {
      // Those that are held back were not sent to anyone.
      if (timer === null || isHeld) return;
      const latest = performance.now() + hurriedMs;
      for (const request of open.values()) request.deadline = Math.min(request.deadline, latest);
      expire();
    },
    hold: () => {
      flush();
      isHeld = true;
    },
    release: () => {
      isHeld = false;
      flush();
    },
    inFlight: () => open.size - held,
    say: (subject, data, reply) => along(() => say(subject, data, reply === undefined ? {} : { reply })),
    along,
    flush,
    refuse: (subject) => refuse((request) => request.subject === subject, ErrorCode.PermissionsViolation),
  };
}
