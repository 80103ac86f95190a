import type { Envelope } from "./compose-letter.ts";
import { MailWithdrawn } from "./mailer.ts";
import type { SmtpChannel } from "./smtp-channel.ts";
import { brokenProtocol, failureBy, failureOf, ofSender, type SmtpFailure, unsendable } from "./smtp-failure.ts";
import type { Reply } from "./smtp-reply-reader.ts";

/** The outcome of one mail on the wire. */
export type Transaction =
  | { readonly kind: "taken"; readonly response: string }
  /** Certainly not taken unless it `mayBeTaken`: its end was written, and only a reply says what became of it. */
  | { readonly kind: "failed"; readonly failure: SmtpFailure; readonly mayBeTaken: boolean };

/** The keywords with which a server answers EHLO (RFC 5321 4.1.1.1); a server that knows only HELO answers with none. */
export const readExtensions = (reply: string): ReadonlySet<string> =>
  new Set(
    reply
      .split("\n")
      .slice(1)
      .map((line) => line.slice(4).trim().replace(/ .*/, "").toUpperCase()),
  );

/**
 * One mail transaction (RFC 5321 3.3). The message has its dots doubled (4.5.2), and ends with a line end. RFC 2920 allows
 * the commands of the next mail behind the final dot, in the same write; but no mail waits for that, because a mail is
 * handed over when a connection is free. What `beforeEnd` throws as MailWithdrawn is thrown: then the mail has no end, and
 * the connection can only be closed.
 */
export async function carryMail(
  channel: SmtpChannel,
  extensions: ReadonlySet<string>,
  envelope: Envelope,
  message: readonly Buffer[],
  beforeEnd: () => Promise<void>,
): Promise<Transaction> {
  let mayBeTaken = false;
  const failed = (failure: SmtpFailure): Transaction => ({ kind: "failed", failure, mayBeTaken });
  try {
    const refusal = await announce(channel, extensions, envelope);
    if (refusal !== null) return failed(refusal);
    const end = await writeUpToEnd(channel, message);
    await beforeEnd();
    channel.write(end);
    mayBeTaken = true;
    const [answer] = await channel.repliesToMessage(1);
    return isPositive(answer) ? { kind: "taken", response: answer.text } : failed(failureBy(answer));
  } catch (failure) {
    if (failure instanceof MailWithdrawn) throw failure;
    return failed(failure as SmtpFailure);
  }
}

/** Whether a server takes a message together with its commands (RFC 3030, RFC 2920). */
export const takesChunks = (extensions: ReadonlySet<string>): boolean =>
  extensions.has("PIPELINING") && extensions.has("CHUNKING");

/**
 * Whether a message may be a chunk, which the server does not read by lines: not one with doubled dots, nor a large one,
 * because what is refused is sent in vain.
 */
export const mayBeChunk = (message: readonly Buffer[]): boolean =>
  sizeOf(message) <= pieceBytes && !message.some((bytes) => bytes[0] === finalDot[0] || bytes.includes("\n."));

const sizeOf = (message: readonly Buffer[]): number => message.reduce((size, { length }) => size + length, 0);

/**
 * One mail transaction in one write, and one wait for the answers. Where the connection ends without a refusal, it is not
 * known what became of the mail, not even whether the server has read anything of it.
 */
export async function carryChunk(
  channel: SmtpChannel,
  extensions: ReadonlySet<string>,
  envelope: Envelope,
  message: readonly Buffer[],
): Promise<Transaction> {
  let mayBeTaken = false;
  const heard: Reply[] = [];
  const failed = (failure: SmtpFailure): Transaction => ({ kind: "failed", failure, mayBeTaken });
  try {
    const commands = [...commandsFor(extensions, envelope), `BDAT ${sizeOf(message)} LAST\r\n`];
    channel.write(Buffer.concat([Buffer.from(commands.join("")), ...message]));
    mayBeTaken = true;
    await channel.repliesToMessage(commands.length, heard);
  } catch (failure) {
    if (heard.every(isPositive)) return failed(failure as SmtpFailure);
  }
  const step = heard.findIndex((reply) => !isPositive(reply));
  const [refusal, answer] = [heard[step], heard.at(-1)];
  if (refusal === undefined) return { kind: "taken", response: answer?.text ?? "" };
  // A refusal stands, whatever becomes of the connection.
  mayBeTaken = refusal.code < 400;
  if (step < messageStep || !isSyntaxError(refusal)) return failed(refusalAt(step, refusal));
  // The server does not know the command that it offers, and reads the message as commands.
  channel.end(brokenProtocol());
  return failed(brokenProtocol());
}

/** Makes the server forget a refused mail, to whose envelope the next one would be added. Rejects if it does not. */
export async function reset(channel: SmtpChannel): Promise<void> {
  channel.write("RSET\r\n");
  const [answer] = await channel.replies(1);
  if (!isPositive(answer)) throw failureBy(answer);
}

/** Resolves once the server has taken leave; what then remains is to close the connection. */
export async function quit(channel: SmtpChannel): Promise<void> {
  channel.write("QUIT\r\n");
  await channel.replies(1);
}

const unsafe = /[\r\n<>]/;
const beyondAscii = /[\x80-\uffff]/;
const noUtf8 = "The mail server takes no mail with an address beyond ASCII: it does not offer SMTPUTF8";

/**
 * MAIL and RCPT. Throws an SmtpFailure where the address cannot be said, or needs SMTPUTF8, as one in the header may, and the
 * server does not offer that (RFC 6531 3.2).
 */
function commandsFor(extensions: ReadonlySet<string>, envelope: Envelope): readonly [string, string] {
  const { from, to, hasUtf8Header = false } = envelope;
  const addresses = from + to;
  if (to === "" || unsafe.test(addresses)) throw failureOf(unsendable, "The address cannot be said to a mail server");
  const isUtf8 = hasUtf8Header || beyondAscii.test(addresses);
  if (isUtf8 && !extensions.has("SMTPUTF8")) throw failureOf(unsendable, noUtf8);
  const parameters = isUtf8 ? " SMTPUTF8" : "";
  return [`MAIL FROM:<${from}>${parameters}\r\n`, `RCPT TO:<${to}>\r\n`];
}

/** MAIL, RCPT and DATA. Returns why the server does not want the message; null if it waits for it. */
async function announce(
  channel: SmtpChannel,
  extensions: ReadonlySet<string>,
  envelope: Envelope,
): Promise<SmtpFailure | null> {
  const commands = [...commandsFor(extensions, envelope), "DATA\r\n"];
  const ask = extensions.has("PIPELINING") ? askAtOnce : askInTurn;
  const replies = await ask(channel, commands);
  const refusedAt = replies.findIndex((reply, step) => !isAgreement(reply, step));
  const refusal = replies[refusedAt];
  if (refusal === undefined) return null;
  if (replies[messageStep]?.code === startMailInput) await endWithoutMessage(channel, refusedAt, refusal);
  return refusalAt(refusedAt, refusal);
}

const refusalAt = (step: number, refusal: Reply): SmtpFailure =>
  failureBy(refusal, step < recipientStep ? ofSender : undefined);

const startMailInput = 354;
const recipientStep = 1;
/** DATA, or BDAT. */
const messageStep = 2;

const isPositive = ({ code }: Reply): boolean => code < 300;

/** The command is not known, or not as it was said (RFC 5321 4.2.2). */
const isSyntaxError = ({ code }: Reply): boolean => code >= 500 && code <= 504;

const isAgreement = (reply: Reply, step: number): boolean =>
  step === messageStep ? reply.code === startMailInput : isPositive(reply);

/** In one write (RFC 2920). */
async function askAtOnce(channel: SmtpChannel, commands: readonly string[]): Promise<readonly Reply[]> {
  channel.write(commands.join(""));
  const heard: Reply[] = [];
  try {
    return await channel.replies(commands.length, heard);
  } catch (failure) {
    // The first refusal stands, whatever becomes of the connection. One of MAIL with 4xx may be the end of an idle one.
    const step = heard.findIndex((reply) => !isPositive(reply));
    const { code = 0 } = heard[step] ?? {};
    if (code >= 500 || (code >= 400 && step === recipientStep)) return heard;
    throw failure;
  }
}

/** Up to the first command that is refused. */
async function askInTurn(channel: SmtpChannel, commands: readonly string[]): Promise<readonly Reply[]> {
  const replies: Reply[] = [];
  for (const [step, command] of commands.entries()) {
    channel.write(command);
    const [reply] = await channel.replies(1);
    replies.push(reply);
    if (!isAgreement(reply, step)) break;
  }
  return replies;
}

const finalDot = Buffer.from(".\r\n");

/**
 * The server waits for the message of a mail that it has refused. Without a recipient, an empty one goes to nobody; a
 * server that refused anything else, or did so in no clear words, is not trusted that far.
 */
async function endWithoutMessage(channel: SmtpChannel, refusedAt: number, { code }: Reply): Promise<void> {
  if (refusedAt !== recipientStep || code < 400) return channel.end(brokenProtocol());
  try {
    channel.write(finalDot);
    await channel.replies(1);
  } catch {
    // The refusal stands, whatever becomes of the connection.
  }
}

/** Large messages leave in pieces, each when the one before has left this process. */
const pieceBytes = 64 * 1024;

/** Returns what is left to write, which is all of a small message, so that it leaves with its dot in one write. */
async function writeUpToEnd(channel: SmtpChannel, message: readonly Buffer[]): Promise<Buffer> {
  const size = sizeOf(message) + finalDot.length;
  if (size <= pieceBytes) return Buffer.concat([...message, finalDot], size);
  for (const bytes of message) {
    for (let from = 0; from < bytes.length; from += pieceBytes) {
      channel.write(bytes.subarray(from, from + pieceBytes));
      await channel.flushed();
    }
  }
  return finalDot;
}
