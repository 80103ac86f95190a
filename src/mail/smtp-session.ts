import { Readable } from "node:stream";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Envelope } from "./compose-letter.ts";
import { endedByUs, leavesSessionUsable, type SmtpFailure } from "./smtp-reply.ts";

export type SessionOptions = {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte on; otherwise STARTTLS is used where the server offers it. */
  readonly secure: boolean;
  readonly auth: { readonly user: string; readonly pass: string } | null;
  /** For the connection, the greeting and the login together, and again for each mail until its final answer. */
  readonly timeoutMs: number;
};

/** What became of one mail on the wire. */
export type Transaction =
  | { readonly kind: "taken"; readonly response: string }
  | { readonly kind: "failed"; readonly failure: SmtpFailure; readonly wasBodyRead: boolean };

/** A connection of nodemailer's to the mail server, signed in. It carries one mail at a time and is then asked whether it can go on. */
export type SmtpSession = {
  readonly send: (envelope: Envelope, message: readonly Buffer[]) => Promise<Transaction>;
  /** Whether another mail may follow, as soon as the last one is over for the server, too. */
  readonly canGoOn: () => Promise<boolean>;
  readonly sent: () => number;
  /** Says goodbye; the session ends with the answer. */
  readonly quit: () => void;
  /** Ends the session at once. */
  readonly close: () => void;
};

/** Reports its end once, whoever ended it. Rejects with an SmtpFailure where no session comes about. */
export function openSession(options: SessionOptions, onEnd: () => void): Promise<SmtpSession> {
  const { auth, timeoutMs } = options;
  const connection = new SMTPConnection(toConnectionOptions(options));
  return new Promise((resolve, reject) => {
    const finish = (failure?: SmtpFailure | null): void => {
      clearTimeout(timer);
      connection.off("error", finish).off("end", endEarly);
      // An error that nobody listens to would end the process; what it means for a mail is told to its sender.
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

/** One mail, which ends in time; a connection that did not answer by then is closed. */
function carry(connection: SMTPConnection, envelope: Envelope, message: readonly Buffer[], timeoutMs: number) {
  return new Promise<Transaction>((resolve) => {
    const body = streamOf(message, () => writeAtOnce(connection));
    const end = (transaction: Transaction): void => {
      clearTimeout(timer);
      connection.off("end", endEarly);
      resolve(transaction);
    };
    const fail = (failure: SmtpFailure): void => end({ kind: "failed", failure, wasBodyRead: body.readableDidRead });
    // Last of all: where the connection knows why it ended, it says so right after this.
    const endEarly = (): void => queueMicrotask(() => fail(closedByServer()));
    const timer = setTimeout(() => {
      fail(failureOf(endedByUs, "The mail server did not answer in time"));
      connection.close();
    }, timeoutMs);
    connection.once("end", endEarly);
    // A copy, because the connection keeps its books in it.
    connection.send({ ...envelope }, body, (failure, info) => {
      if (failure) fail(failure);
      else end({ kind: "taken", response: info.response });
    });
  });
}

/** A refused mail leaves its envelope behind, which the next one would be added to. Without an answer, the session ends. */
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

/** Large ones in pieces: what is on its way to a slow mail server is no more than a few of them. */
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

/** In one, as long as it is small: header, body and dot are to leave together. */
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

/** The connection writes the final dot by itself; held back until then, header, body and dot go in one segment. */
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
    // Longer than a mail may take: what bounds a mail ends it, and says so.
    socketTimeout: timeoutMs + 5000,
  };
}
