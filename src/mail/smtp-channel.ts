import type { Socket } from "node:net";
import { brokenProtocol, closedByServer, endedByUs, failureBy, failureOf, type SmtpFailure } from "./smtp-failure.ts";
import { createReplyReader, type Reply } from "./smtp-reply-reader.ts";

/**
 * Takes turns with the mail server, over a socket that is secured and signed in. Whatever the protocol does not allow
 * ends the channel, above all a reply before its turn: it would count as the answer to what is written next.
 */
export type SmtpChannel = {
  /** Throws an SmtpFailure, and writes nothing, if the channel has ended. */
  readonly write: (bytes: string | Buffer) => void;
  /** Resolves once the system has taken what was written, so that little of it waits in memory for a slow server. */
  readonly flushed: () => Promise<unknown>;
  /**
   * The replies to what was just written; fewer if the last one is 421. Rejects with an SmtpFailure if the channel ends;
   * `heard` then has those that came before.
   */
  readonly replies: (count: number, heard?: Reply[]) => Promise<Replies>;
  /** The same for what ends with a whole message, which the server may look into before it answers. */
  readonly repliesToMessage: (count: number, heard?: Reply[]) => Promise<Replies>;
  /** What is being waited for fails with this. */
  readonly end: (failure: SmtpFailure) => void;
};

type Replies = readonly [Reply, ...Reply[]];

type Awaited = {
  /** 0 while something is written to which no reply is due yet. */
  readonly count: number;
  readonly replies: Reply[];
  readonly resolve: () => void;
  readonly reject: (failure: SmtpFailure) => void;
};

/** The server closes the connection after it, whatever it was asked (RFC 5321 3.8). */
const serviceClosing = 421;

export type Patience = {
  /** For each step of a mail: until its replies are there, or a piece of the message has left. */
  readonly timeoutMs: number;
  /** For the answer to a whole message. */
  readonly answerTimeoutMs: number;
};

/** `close` is called once, when the channel ends. */
export function createSmtpChannel(
  socket: Socket,
  { timeoutMs, answerTimeoutMs }: Patience,
  close: () => void,
): SmtpChannel {
  let failure: SmtpFailure | null = null;
  let awaited: Awaited | null = null;

  const end = (reason: SmtpFailure): void => {
    if (failure !== null) return;
    failure = reason;
    awaited?.reject(reason);
    awaited = null;
    close();
  };
  const hear = (reply: Reply): void => {
    if (failure !== null) return;
    const isAsked = awaited !== null && awaited.count > 0;
    const isClosing = reply.code === serviceClosing;
    if (awaited !== null && isAsked) {
      awaited.replies.push(reply);
      if (awaited.replies.length < awaited.count && !isClosing) return;
      awaited.resolve();
      awaited = null;
    }
    if (isClosing || !isAsked) end(failureBy(reply));
  };
  const tooLate = (): void => end(failureOf(endedByUs, "The mail server did not answer in time"));
  /** Once what has arrived is read: where the process stood still, its timers come before that. */
  const endIfUnheard = (waiting: Awaited): void => {
    setImmediate(() => {
      if (awaited === waiting) tooLate();
    });
  };
  const wait = (count: number, replies: Reply[], withinMs: number): Promise<Replies> =>
    new Promise((resolve, reject) => {
      if (failure !== null) return reject(failure);
      const timer = setTimeout(() => endIfUnheard(waiting), withinMs);
      const waiting: Awaited = {
        count,
        replies,
        resolve: () => {
          clearTimeout(timer);
          // A reply was heard, so there is a first one.
          resolve(replies as unknown as Replies);
        },
        reject: (reason) => {
          clearTimeout(timer);
          reject(reason);
        },
      };
      awaited = waiting;
    });
  const reader = createReplyReader(hear);
  socket.on("data", (bytes: Buffer) => {
    if (failure === null && !reader.read(bytes)) end(brokenProtocol());
  });

  return {
    write: (bytes) => {
      if (reader.isInReply()) end(brokenProtocol());
      if (!socket.writable) end(closedByServer());
      if (failure !== null) throw failure;
      socket.write(bytes);
    },
    flushed: () => {
      if (!socket.writableNeedDrain) return Promise.resolve();
      const flushed = wait(0, [], timeoutMs);
      socket.once("drain", () => awaited?.resolve());
      return flushed;
    },
    replies: (count, heard = []) => wait(count, heard, timeoutMs),
    repliesToMessage: (count, heard = []) => wait(count, heard, answerTimeoutMs),
    end,
  };
}
