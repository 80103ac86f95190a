import type { Socket } from "node:net";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { ChunkTrust } from "./chunk-trust.ts";
import type { Envelope } from "./compose-letter.ts";
import { createSmtpChannel, type Patience } from "./smtp-channel.ts";
import {
  carryChunk,
  carryMail,
  mayBeChunk,
  quit,
  readExtensions,
  reset,
  type Transaction,
  takesChunks,
} from "./smtp-dialogue.ts";
import { brokenProtocol, closedByServer, failureOf, type SmtpFailure } from "./smtp-failure.ts";
import { isUnanswered, leavesSessionUsable } from "./smtp-reply.ts";
import type { MailServer } from "./smtp-url.ts";

export type SessionOptions = Patience &
  MailServer & {
    /** Also for the connection, the greeting and the login together. */
    readonly timeoutMs: number;
    /** What this host calls itself; null: its name, or 127.0.0.1 where that has no dot. */
    readonly name: string | null;
    readonly chunkTrust: ChunkTrust;
  };

/** The server has taken a mail over the same connection within this time, so it has not been closed for being idle. */
const aliveForMs = 1000;

/** A signed-in connection to the mail server. It carries one mail at a time; `canGoOn` then tells if another may follow. */
export type SmtpSession = {
  /** Rejects with MailWithdrawn if `beforeEnd` does; it is called before the end of the message is written. */
  readonly send: (
    envelope: Envelope,
    message: readonly Buffer[],
    beforeEnd: () => Promise<void>,
  ) => Promise<Transaction>;
  /** Whether another mail may follow. Resolves once the last one is over for the server as well. */
  readonly canGoOn: () => Promise<boolean>;
  readonly sent: () => number;
  /** Sends QUIT; the session ends with the answer. */
  readonly quit: () => void;
  /** Ends the session at once. */
  readonly close: () => void;
};

/** `onEnd` is called once, whichever side ends the session. Rejects with an SmtpFailure if no session can be opened. */
export function openSession(options: SessionOptions, onEnd: () => void): Promise<SmtpSession> {
  const { auth, timeoutMs } = options;
  const connection = new SMTPConnection(toConnectionOptions(options));
  let extensions: ReadonlySet<string> = new Set();
  return new Promise((resolve, reject) => {
    const finish = (failure?: SmtpFailure | null): void => {
      clearTimeout(timer);
      connection.off("error", finish).off("end", endEarly);
      // An unhandled error event would end the process.
      connection.on("error", () => {});
      const { _socket: socket } = connection;
      if (failure || !socket || hasUnread(connection)) {
        connection.close();
        const isTlsRefused = failure?.code === "ETLS" && failure.responseCode !== undefined;
        reject(isTlsRefused && options.needsTls ? noTlsGiven() : (failure ?? brokenProtocol()));
      } else resolve(createSession(options, { connection, socket, extensions, onEnd }));
    };
    const endEarly = (): void => finish(closedByServer());
    const timer = setTimeout(() => finish(failureOf("ETIMEDOUT", "The mail server was too slow to begin")), timeoutMs);
    connection.once("error", finish).once("end", endEarly);
    connection.connect((failure) => {
      extensions = readExtensions(connection.lastServerResponse || "");
      if (failure || auth === null) return finish(failure);
      // Mails without a login would be refused one by one.
      if (!connection.allowsAuth) return finish(noLoginOffered());
      connection.login({ ...auth }, finish);
    });
  });
}

const noTlsGiven = (): SmtpFailure => {
  const response = "The mail server gives no TLS, and SMTP_URL has a password, which others could read";
  return Object.assign(failureOf("ETLS", response), { response });
};

const noLoginOffered = (): SmtpFailure => {
  const response = "The mail server offers no login, and SMTP_URL has a password";
  return Object.assign(failureOf("EAUTH", response), { response });
};

/** What nodemailer has received and given to no one; its types do not name it, and a test fails where it has moved. */
type Unread = { readonly _remainder: string; readonly _responseQueue: readonly string[] };

/** Whether the server has said something that it was not asked: it would be taken for the answer to the first command. */
function hasUnread(connection: SMTPConnection): boolean {
  const { _remainder, _responseQueue } = connection as unknown as Unread;
  return [_remainder, ..._responseQueue].some((line) => line.trim() !== "");
}

type Connected = {
  readonly connection: SMTPConnection;
  readonly socket: Socket;
  readonly extensions: ReadonlySet<string>;
  readonly onEnd: () => void;
};

/** From now on replies are read here; what nodemailer still does is to notice the end of the connection, and to close it. */
function createSession(
  { chunkTrust, timeoutMs, answerTimeoutMs }: SessionOptions,
  { connection, socket, extensions, onEnd }: Connected,
): SmtpSession {
  let sent = 0;
  let lastTakenAt = Number.NEGATIVE_INFINITY;
  let isOpen = true;
  let needsReset = false;
  const close = (): void => connection.close();
  socket.removeAllListeners("data");
  const channel = createSmtpChannel(socket, { timeoutMs, answerTimeoutMs }, close);
  // This event comes before the other one, and knows the reason.
  connection.on("error", channel.end);
  connection.once("end", () => {
    isOpen = false;
    channel.end(closedByServer());
    onEnd();
  });
  const isForChunks = takesChunks(extensions);
  const mayTakeChunk = (): boolean =>
    isForChunks && performance.now() - lastTakenAt < aliveForMs && chunkTrust.isGiven();
  return {
    send: async (envelope, message, beforeEnd) => {
      sent += 1;
      const isChunk = mayTakeChunk() && mayBeChunk(message);
      // A chunk is written whole, at once.
      const carrying = isChunk
        ? carryChunk(channel, extensions, envelope, message)
        : carryMail(channel, extensions, envelope, message, beforeEnd);
      const transaction = await carrying.catch((withdrawn: unknown) => {
        close();
        throw withdrawn;
      });
      if (transaction.kind === "taken") lastTakenAt = performance.now();
      else {
        needsReset = true;
        if (isChunk && isUnanswered(transaction.failure)) chunkTrust.lose();
        if (!leavesSessionUsable(transaction.failure)) close();
      }
      return transaction;
    },
    canGoOn: async () => {
      if (isOpen && needsReset) await reset(channel).catch(channel.end);
      needsReset = false;
      return isOpen;
    },
    sent: () => sent,
    quit: () => void quit(channel).then(close, close),
    close,
  };
}

function toConnectionOptions(options: SessionOptions) {
  const { host, port, secure, needsTls, timeoutMs, answerTimeoutMs, name } = options;
  return {
    host,
    port,
    secure,
    requireTLS: needsTls,
    ...(name !== null && { name }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    // Longer than any wait for the server, and than the pool leaves a connection idle: those limits apply first.
    socketTimeout: answerTimeoutMs + 600_000,
  };
}
