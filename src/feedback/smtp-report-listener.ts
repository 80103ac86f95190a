import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerAddress, type SMTPServerSession } from "smtp-server";
import { maxReportBytes, type RawReport, receiveReport } from "./raw-report.ts";

export type ReportListenerSettings = {
  readonly host: string;
  readonly port: number;
  /** LMTP (RFC 2033), which a mail server on the same machine hands mails over with. */
  readonly isLmtp: boolean;
  /** How long one connection may last; by default long enough for any report on a slow line. */
  readonly longestConnectionMs?: number;
};

export type ReportListener = { readonly port: number; readonly stop: () => Promise<void> };

const maxClients = 100;
/** One sender alone, or one that attacks, leaves room for others. A mail server on the same machine is the only one. */
const maxClientsOfAddress = 50;
/** A report is sent to one address; some servers hand over those of several mails together. */
const maxRecipients = 20;
/** After so many addresses that are none, the connection ends. */
const maxRefused = 100;
const silenceMs = 30_000;
const usualConnectionMs = 10 * 60_000;

const refusal = (responseCode: number, message: string): Error => Object.assign(new Error(message), { responseCode });

/**
 * Takes the mails to addresses that `isOurs` knows, and no others: an address without a valid token is refused before the
 * mail is sent, so that forged ones cost next to nothing. A mail is answered once `take` has done with it; where that fails,
 * the sender is told to come again.
 */
export async function startReportListener(
  { host, port, isLmtp, longestConnectionMs = usualConnectionMs }: ReportListenerSettings,
  isOurs: (address: string) => boolean,
  take: (raw: RawReport, envelopeTo: readonly string[]) => Promise<void>,
  report: (failure: unknown) => void,
): Promise<ReportListener> {
  const clients = createClients();
  const refuse = createRefusing();
  const server = new SMTPServer({
    lmtp: isLmtp,
    disabledCommands: ["AUTH", "STARTTLS"],
    authOptional: true,
    disableReverseLookup: true,
    logger: false,
    banner: "Waybill takes reports about mails",
    size: maxReportBytes,
    maxClients,
    socketTimeout: silenceMs,
    closeTimeout: 1000,
    onConnect: (session, answer) => {
      const isTooMany = clients.came(session) > maxClientsOfAddress && !isLmtp;
      return isTooMany ? answer(refusal(421, "4.7.0 Too many connections of this address")) : answer();
    },
    onClose: clients.went,
    onRcptTo: ({ address }: SMTPServerAddress, session, answer) => {
      if (session.envelope.rcptTo.length >= maxRecipients) return answer(refusal(452, "4.5.3 Too many recipients"));
      return isOurs(address) ? answer() : answer(refuse(session));
    },
    onData: (stream, { envelope }, answer) => {
      const to = envelope.rcptTo.map(({ address }) => address);
      receive(stream as AsyncIterable<Buffer>)
        .then((raw) => take(raw, to))
        .then(
          () => answer(null, "2.0.0 Taken"),
          (failure: unknown) => answer(toRefusal(failure, report)),
        );
    },
  });
  // A client that drops its connection is not an error of the service.
  server.on("error", () => {});
  // One that sends a character now and then would hold its place for ever.
  server.server.on("connection", (socket) => {
    const timer = setTimeout(() => socket.destroy(), longestConnectionMs).unref();
    socket.once("close", () => clearTimeout(timer));
  });
  const listener = server.listen(port, host);
  await once(listener, "listening");
  return {
    port: (listener.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** What is over the limit is read and dropped: the sender hears of it only then. */
async function receive(stream: AsyncIterable<Buffer>): Promise<RawReport> {
  const raw = await receiveReport(stream);
  if (raw.bytes > maxReportBytes) throw refusal(552, "5.3.4 Larger than any report");
  return raw;
}

function toRefusal(failure: unknown, report: (failure: unknown) => void): Error {
  if (failure instanceof Error && "responseCode" in failure) return failure;
  if (!isGone(failure)) report(failure);
  return refusal(451, "4.3.0 Cannot be recorded at the moment; try again later");
}

/** The client went away in the middle of its mail. */
const isGone = (failure: unknown): boolean => (failure as { readonly code?: unknown }).code === "ECONNECTION";

/** Of addresses; the connection ends with the last one. */
function createRefusing() {
  const refused = new WeakMap<SMTPServerSession, number>();
  return (session: SMTPServerSession): Error => {
    const times = (refused.get(session) ?? 0) + 1;
    refused.set(session, times);
    return times < maxRefused
      ? refusal(550, "5.1.1 No mail was sent with this return path")
      : refusal(421, "4.7.0 Too many addresses that are no return path");
  };
}

function createClients() {
  const ofAddress = new Map<string, Set<SMTPServerSession>>();
  return {
    /** How many connections its address has now. */
    came: (session: SMTPServerSession): number => {
      const sessions = ofAddress.get(session.remoteAddress) ?? new Set();
      ofAddress.set(session.remoteAddress, sessions.add(session));
      return sessions.size;
    },
    /** Also for a connection that ended before it was counted. */
    went: (session: SMTPServerSession): void => {
      const sessions = ofAddress.get(session.remoteAddress);
      if (sessions?.delete(session) && sessions.size === 0) ofAddress.delete(session.remoteAddress);
    },
  };
}
