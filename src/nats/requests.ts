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

/** Whoever has not answered by then has not answered; whether it did what it was asked is not known. */
export const answerTimeoutMs = 1500;

export type Requests = {
  /** Resolves with the answer; rejects, with an error of NATS, where none comes in time. */
  request(subject: string, data: Uint8Array | string, headers?: MsgHdrs): Promise<Msg>;
  /**
   * Says something that nobody answers, unless it is told where. Never throws: what cannot be said is lost, like
   * anything on its way.
   */
  say(subject: string, data: string, reply?: string): void;
  /** Does something with the connection in its turn among what is asked and said, so that it leaves in the same write. */
  along(act: () => void): void;
  /** Writes what waits to be written. */
  flush(): void;
  /** Ends the requests for a subject that the server does not let this client write to. */
  refuse(subject: string): void;
  /** Keeps back what is asked and said from now on; `release` lets it go. */
  hold(): void;
  release(): void;
  /** How many requests wait for their answer, without those that are kept back. */
  inFlight(): number;
};

type Open = {
  readonly subject: string;
  readonly deadline: number;
  readonly resolve: (answer: Msg) => void;
  readonly reject: (failure: NatsError) => void;
};

/**
 * Requests over one inbox and with one timer, whatever their number: a worker makes two for every mail, and the
 * client's own cost as much as composing a mail, with three errors made for each that succeeds. What is asked in one
 * turn of the event loop leaves in one write.
 */
export function createRequests(
  nats: NatsConnection,
  isUp: () => boolean,
  onUnanswered: () => void = () => {},
): Requests {
  const inbox = createInbox();
  /** In the order of their deadlines, as all have the same patience. */
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
    timer = null;
    const now = performance.now();
    for (const [token, { deadline }] of open) {
      if (deadline > now) {
        timer = setTimeout(expire, deadline - now);
        return;
      }
      fail(token, NatsError.errorForCode(ErrorCode.Timeout));
      onUnanswered();
    }
  };

  const publish = (subject: string, data: Uint8Array | string, options: PublishOptions): void => {
    // What the client is given without a connection it keeps, and sends long after its sender was told no.
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
      // Nothing but errors of NATS leave its client.
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
        timer ??= setTimeout(expire, answerTimeoutMs);
        along(() => ask(token, subject, data, headers));
      }),
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
