import { createInbox, ErrorCode, type Msg, type MsgHdrs, type NatsConnection, NatsError } from "nats";
import { isStatus } from "./jetstream-message.ts";

/** Whoever has not answered by then has not answered; whether it did what it was asked is not known. */
export const answerTimeoutMs = 1500;

export type Requests = {
  /** Resolves with the answer; rejects, with an error of NATS, where none comes in time. */
  request(subject: string, data: Uint8Array | string, headers?: MsgHdrs): Promise<Msg>;
  /** Says something that nobody answers. Never throws: what cannot be said is lost, like anything on its way. */
  say(subject: string, data: string): void;
  /** Writes what waits to be written. */
  flush(): void;
  /** Ends the requests for a subject that the server does not let this client write to. */
  refuse(subject: string): void;
};

type Open = {
  readonly subject: string;
  readonly deadline: number;
  readonly resolve: (answer: Msg) => void;
  readonly reject: (failure: NatsError) => void;
};

type Outgoing = {
  readonly subject: string;
  readonly data: Uint8Array | string;
  readonly headers: MsgHdrs | undefined;
  /** Null where no answer is expected. */
  readonly token: string | null;
};

/**
 * Requests over one inbox and with one timer, whatever their number: a worker makes two for every mail, and the
 * client's own cost as much as composing a mail, with three errors made for each that succeeds. What is asked in one
 * turn of the event loop leaves in one write.
 */
export function createRequests(nats: NatsConnection, isUp: () => boolean): Requests {
  const inbox = createInbox();
  /** In the order of their deadlines, as all have the same patience. */
  const open = new Map<string, Open>();
  let outgoing: Outgoing[] = [];
  let asked = 0;
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
    }
  };

  const write = ({ subject, data, headers, token }: Outgoing): void => {
    try {
      // What the client is given without a connection it keeps, and sends long after its sender was told no.
      if (!isUp()) throw NatsError.errorForCode(ErrorCode.Disconnect);
      const reply = token === null ? {} : { reply: `${inbox}.${token}` };
      nats.publish(subject, data, headers === undefined ? reply : { ...reply, headers });
    } catch (failure) {
      // Nothing but errors of NATS leave its client.
      if (token !== null) fail(token, failure as NatsError);
    }
  };
  const flush = (): void => {
    const batch = outgoing;
    outgoing = [];
    for (const message of batch) write(message);
  };
  const send = (message: Outgoing): void => {
    if (outgoing.length === 0) setImmediate(flush);
    outgoing.push(message);
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
        open.set(token, { subject, deadline: performance.now() + answerTimeoutMs, resolve, reject });
        timer ??= setTimeout(expire, answerTimeoutMs);
        send({ subject, data, headers, token });
      }),
    say: (subject, data) => send({ subject, data, headers: undefined, token: null }),
    flush,
    refuse: (subject) => refuse((request) => request.subject === subject, ErrorCode.PermissionsViolation),
  };
}
