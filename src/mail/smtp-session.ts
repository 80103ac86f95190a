import { Readable } from "node:stream";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Envelope } from "./compose-letter.ts";
import { endedByUs, leavesSessionUsable, type SmtpFailure } from "./smtp-reply.ts";

export type SessionOptions = {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS is used if the server offers it. */
  readonly secure: boolean;
  readonly auth: { readonly user: string; readonly pass: string } | null;
  /** For the connection, the greeting and the login together, and again for each mail up to its final answer. */
  readonly timeoutMs: number;
};

/** The outcome of one mail on the wire. */
export type Transaction =
  | { readonly kind: "taken"; readonly response: string }
  | { readonly kind: "failed"; readonly failure: SmtpFailure; readonly wasBodyRead: boolean };

/** A signed-in connection of nodemailer to the mail server. It carries one mail at a time; `canGoOn` then tells if another may follow. */
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
  const { auth, timeoutMs } = options;
  const connection = new SMTPConnection(toConnectionOptions(options));
  return new Promise((resolve, reject) => {
    const finish = (failure?: SmtpFailure | null): void => {
      clearTimeout(timer);
      connection.off("error", finish).off("end", endEarly);
      // An unhandled error event would end the process; what it means for a mail is returned by `send`.
      connection.on("error", () => {});
      if (failure) {
        connection.close();
        reject(failure);
      } else resolve(createSession(connection, timeoutMs, onEnd));
    };
    const endEarly = (): void => finish(closedByServer());
    const timer = setTimeout(() => finish(failureOf("ETIMEDOUT", "The mail server was too slow to begin")), timeoutMs);
    connection.once("error", finish).once("end", endEarly);
    connection.connect((failure) => {
      if (failure || auth === null || !connection.allowsAuth) return finish(failure);
      connection.login({ ...auth }, finish);
    });
  });
}

function createSession(connection: SMTPConnection, timeoutMs: number, onEnd: () => void): SmtpSession {
  let sent = 0;
  let isOpen = true;
  let needsReset = false;
  connection.once("end", () => {
    isOpen = false;
    onEnd();
  });
  return {
    send: async (envelope, message) => {
      sent += 1;
      const transaction = await carry(connection, envelope, message, timeoutMs);
      if (transaction.kind === "failed") {
        needsReset = true;
        if (!leavesSessionUsable(transaction.failure)) connection.close();
      }
      return transaction;
    },
    canGoOn: async () => {
      if (isOpen && needsReset) await reset(connection, timeoutMs);
      needsReset = false;
      return isOpen;
    },
    sent: () => sent,
    quit: () => connection.quit(),
    close: () => connection.close(),
  };
}

/** Sends one mail within the time limit; a connection that has not answered by then is closed. */
function carry(connection: SMTPConnection, envelope: Envelope, message: readonly Buffer[], timeoutMs: number) {
  return new Promise<Transaction>((resolve) => {
    const body = streamOf(message, () => writeAtOnce(connection));
    const end = (transaction: Transaction): void => {
      clearTimeout(timer);
      connection.off("end", endEarly);
      resolve(transaction);
    };
    const fail = (failure: SmtpFailure): void => end({ kind: "failed", failure, wasBodyRead: body.readableDidRead });
    // Deferred: if the connection knows why it ended, it reports that right after this event.
    const endEarly = (): void => queueMicrotask(() => fail(closedByServer()));
    const timer = setTimeout(() => {
      fail(failureOf(endedByUs, "The mail server did not answer in time"));
      connection.close();
    }, timeoutMs);
    connection.once("end", endEarly);
    // A copy, because the connection modifies it.
    connection.send({ ...envelope }, body, (failure, info) => {
      if (failure) fail(failure);
      else end({ kind: "taken", response: info.response });
    });
  });
}

/** A refused mail leaves its envelope behind, to which the next one would be added. Without an answer, the session ends. */
function reset(connection: SMTPConnection, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => connection.close(), timeoutMs);
    const finish = (): void => {
      clearTimeout(timer);
      connection.off("end", finish);
      resolve();
    };
    connection.once("end", finish);
    connection.reset((failure) => {
      if (failure) connection.close();
      finish();
    });
  });
}

/** Large messages are sent in pieces: no more than a few of them are buffered for a slow mail server. */
const pieceBytes = 64 * 1024;

function streamOf(message: readonly Buffer[], onRead: () => void): Readable {
  const pieces = piecesOf(message);
  return new Readable({
    highWaterMark: pieceBytes,
    read() {
      onRead();
      this.push(pieces.next().value ?? null);
    },
  });
}

/** A small message is one piece, so that header, body and dot leave together. */
function* piecesOf(message: readonly Buffer[]): Generator<Buffer, undefined> {
  const size = message.reduce((bytes, { length }) => bytes + length, 0);
  if (size <= pieceBytes) {
    yield Buffer.concat(message, size);
    return;
  }
  for (const bytes of message) {
    for (let from = 0; from < bytes.length; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes);
  }
}

/** The connection writes the final dot separately; corked until then, header, body and dot leave in one segment. */
function writeAtOnce({ _socket: socket }: SMTPConnection): void {
  if (!socket) return;
  socket.cork();
  setImmediate(() => socket.uncork());
}

const closedByServer = (): SmtpFailure => failureOf("ECONNECTION", "The mail server closed the connection");

const failureOf = (code: string, message: string): SmtpFailure => Object.assign(new Error(message), { code });

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
