import type { Socket } from "node:net";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { ChunkTrust } from "./chunk-trust.ts";
import type { Envelope } from "./compose-letter.ts";
import { createSmtpChannel } from "./smtp-channel.ts";
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
import { brokenProtocol, closedByServer, endedByUs, failureOf, type SmtpFailure } from "./smtp-failure.ts";
import { isUnanswered, leavesSessionUsable } from "./smtp-reply.ts";

export type SessionOptions = {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS is used if the server offers it. */
  readonly secure: boolean;
  readonly auth: { readonly user: string; readonly pass: string } | null;
  /** For the connection, the greeting and the login together, and again for each mail up to its final answer. */
  readonly timeoutMs: number;
  readonly chunkTrust: ChunkTrust;
};

/** The server has taken a mail over the same connection within this time, so it has not been closed for being idle. */
const aliveForMs = 1000;

/** A signed-in connection to the mail server. It carries one mail at a time; `canGoOn` then tells if another may follow. */
export type SmtpSession = {
  readonly send: (envelope: Envelope, message: readonly Buffer[]) => Promise<Transaction>;
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
  const { auth, timeoutMs, chunkTrust } = options;
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
        reject(failure ?? brokenProtocol());
      } else resolve(createSession({ connection, socket, extensions, timeoutMs, chunkTrust, onEnd }));
    };
    const endEarly = (): void => finish(closedByServer());
    const timer = setTimeout(() => finish(failureOf("ETIMEDOUT", "The mail server was too slow to begin")), timeoutMs);
    connection.once("error", finish).once("end", endEarly);
    connection.connect((failure) => {
      extensions = readExtensions(connection.lastServerResponse || "");
      if (failure || auth === null || !connection.allowsAuth) return finish(failure);
      connection.login({ ...auth }, finish);
    });
  });
}

/** What nodemailer has received and given to no one; its types do not name it, and a test fails where it has moved. */
type Unread = { readonly _remainder: string; readonly _responseQueue: readonly string[] };

/** Whether the server has said something that it was not asked: it would be taken for the answer to the first command. */
function hasUnread(connection: SMTPConnection): boolean {
  const { _remainder, _responseQueue } = connection as unknown as Unread;
  return [_remainder, ..._responseQueue].some((line) => line.trim() !== "");
}

type Connected = Pick<SessionOptions, "timeoutMs" | "chunkTrust"> & {
  readonly connection: SMTPConnection;
  readonly socket: Socket;
  readonly extensions: ReadonlySet<string>;
  readonly onEnd: () => void;
};

/** From now on replies are read here; what nodemailer still does is to notice the end of the connection, and to close it. */
function createSession({ connection, socket, extensions, timeoutMs, chunkTrust, onEnd }: Connected): SmtpSession {
  let sent = 0;
  let lastTakenAt = Number.NEGATIVE_INFINITY;
  let isOpen = true;
  let needsReset = false;
  const close = (): void => connection.close();
  socket.removeAllListeners("data");
  const channel = createSmtpChannel(socket, close);
  // This event comes before the other one, and knows the reason.
  connection.on("error", channel.end);
  connection.once("end", () => {
    isOpen = false;
    channel.end(closedByServer());
    onEnd();
  });
  const inTime = async <Result>(step: Promise<Result>): Promise<Result> => {
    const tooLate = (): void => channel.end(failureOf(endedByUs, "The mail server did not answer in time"));
    const timer = setTimeout(tooLate, timeoutMs);
    try {
      return await step;
    } finally {
      clearTimeout(timer);
    }
  };
  const isForChunks = takesChunks(extensions);
  const mayTakeChunk = (): boolean =>
    isForChunks && performance.now() - lastTakenAt < aliveForMs && chunkTrust.isGiven();
  return {
    send: async (envelope, message) => {
      sent += 1;
      const isChunk = mayTakeChunk() && mayBeChunk(message);
      const carry = isChunk ? carryChunk : carryMail;
      const transaction = await inTime(carry(channel, extensions, envelope, message));
      if (transaction.kind === "taken") lastTakenAt = performance.now();
      else {
        needsReset = true;
        if (isChunk && isUnanswered(transaction.failure)) chunkTrust.lose();
        if (!leavesSessionUsable(transaction.failure)) close();
      }
      return transaction;
    },
    canGoOn: async () => {
      if (isOpen && needsReset) await inTime(reset(channel)).catch(channel.end);
      needsReset = false;
      return isOpen;
    },
    sent: () => sent,
    quit: () => void inTime(quit(channel)).then(close, close),
    close,
  };
}

function toConnectionOptions({ host, port, secure, timeoutMs }: SessionOptions) {
  const connectMs = Math.min(10_000, timeoutMs);
  return {
    host,
    port,
    secure,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    dnsTimeout: connectMs,
    // Longer than a mail may take: the limit of the mail itself applies first, and is reported.
    socketTimeout: timeoutMs + 5000,
  };
}
