import type { SendOutcome } from "../domain/recipients/events.ts";
import { createChunkTrust } from "./chunk-trust.ts";
import { type ComposedLetter, createComposer, type Envelope } from "./compose-letter.ts";
import type { DkimSettings } from "./dkim.ts";
import { type Letter, type Mail, type Mailer, MailWithdrawn } from "./mailer.ts";
import { maskReply } from "./mask-reply.ts";
import type { ReceiverPatience } from "./receiver-patience.ts";
import type { Transaction } from "./smtp-dialogue.ts";
import { failureOf, type SmtpFailure, unsendable } from "./smtp-failure.ts";
import { createSmtpPool } from "./smtp-pool.ts";
import { readFailure, sessionError } from "./smtp-reply.ts";
import { openSession } from "./smtp-session.ts";
import { readSmtpUrl } from "./smtp-url.ts";
import { fieldsReplacedBy, tokenHeaderFor } from "./token-header.ts";

export type SmtpSettings = {
  /** `smtp://user:password@host:port` or `smtps://…` */
  readonly url: string;
  readonly maxConnections: number;
  /** For opening a connection, and for each step of a mail but the last. */
  readonly timeoutMs: number;
  /** For the answer to a whole mail. Without it, what became of the mail is not known, and it may come twice. */
  readonly answerTimeoutMs: number;
  /** See SessionOptions. */
  readonly name?: string | null;
  /** Null leaves the mails unsigned. */
  readonly dkim?: DkimSettings | null;
  /** Without it, the end of a connection is always about the mail server. */
  readonly patience?: ReceiverPatience;
};

/**
 * How many connections are tried for one mail, if one cannot be used and the server has certainly not taken it. A pooled
 * connection that the server closed while it was idle is not an outage.
 */
const triesOnConnections = 3;

/**
 * Composes each letter once, and hands its mails as bytes to connections that nodemailer has opened. The composed letter
 * is kept for as long as the letter itself is referenced.
 */
export function createSmtpMailer({ url, maxConnections, dkim = null, patience, ...more }: SmtpSettings): Mailer {
  const { timeoutMs, answerTimeoutMs, name = null } = more;
  const options = { ...readSmtpUrl(url), timeoutMs, answerTimeoutMs, name, chunkTrust: createChunkTrust() };
  const tokenHeader = tokenHeaderFor(options.host);
  const pool = createSmtpPool((onEnd) => openSession(options, onEnd), maxConnections);
  const composeLetter = createComposer(dkim, fieldsReplacedBy(options.host));
  const composed = new WeakMap<Letter, Promise<ComposedLetter>>();

  const compose = (letter: Letter): Promise<ComposedLetter> => {
    const known = composed.get(letter);
    if (known !== undefined) return known;
    const fresh = composeLetter(tokenHeader === null ? letter : { ...letter, tokenHeader });
    composed.set(letter, fresh);
    return fresh;
  };

  const write = async (mail: Mail): Promise<{ readonly envelope: Envelope; readonly message: readonly Buffer[] }> => {
    try {
      const { envelopeOf, messageOf } = await compose(mail.letter);
      return { envelope: envelopeOf(mail), message: await messageOf(mail, new Date()) };
    } catch (failure) {
      throw failureOf(unsendable, `The mail cannot be composed: ${String(failure)}`);
    }
  };

  const sendOnce = async (mail: Mail): Promise<SendOutcome> => {
    const { letter, to } = mail;
    const subject = mail.personal?.subject ?? letter.subject;
    const mask = (text: string): string => maskReply(text, { to, subject });
    try {
      const { envelope, message } = await write(mail);
      const transaction = await pool.use(async (session) => {
        await askAgain(mail);
        const askedAt = performance.now();
        return await session.send(envelope, message, async () => {
          if (performance.now() - askedAt > answerHoldsMs) await askAgain(mail);
        });
      }, isOneTooMany);
      if (transaction.kind === "taken") return { kind: "sent", response: mask(transaction.response) };
      return readFailure(transaction.failure, transaction.mayBeTaken ? "written" : "begun", mask);
    } catch (failure) {
      if (failure instanceof MailWithdrawn) throw failure;
      return readFailure(failure as SmtpFailure, "unsaid", mask);
    }
  };

  return {
    connections: maxConnections,
    send: async (mail) => {
      let outcome = await sendOnce(mail);
      for (let tries = 1; isWorthAnotherConnection(outcome) && tries < triesOnConnections; tries += 1) {
        // What ended this connection may also have ended the idle ones, without their noticing.
        if (outcome.kind === "unavailable") pool.closeIdle();
        outcome = await sendOnce(mail);
      }
      return patience?.(mail.to, outcome) ?? outcome;
    },
    probe: async () => {
      // A server that allows few connections would refuse one more for those that it has.
      pool.closeIdle();
      try {
        const session = await openSession(options, () => {});
        session.quit();
        return { kind: "ready" };
      } catch (failure) {
        return { kind: "unavailable", error: sessionError(failure as SmtpFailure, maskOfProbe) };
      }
    },
    close: async () => pool.close(),
  };
}

/** A server can take long to listen, and the process can stand still meanwhile: then the answer is out of date. */
const answerHoldsMs = 1000;

async function askAgain({ mayStill }: Mail): Promise<void> {
  const isAllowed = await mayStill?.().catch((cause: unknown) => {
    throw new MailWithdrawn("Whether the mail may still be sent is not known", { cause });
  });
  if (isAllowed === false) throw new MailWithdrawn("The mail may not be sent any more");
}

/** What a probe was told becomes the error of the mails that wait for it. */
const maskOfProbe = (reply: string): string => maskReply(reply, { to: "", subject: "" });

/** In answer to a mail, Microsoft 365 says so of the connections of an account beyond three. Others say it as they greet. */
const tooManyConnections = 432;

const isOneTooMany = (transaction: Transaction): boolean =>
  transaction.kind === "failed" && transaction.failure.responseCode === tooManyConnections;

/**
 * Not after a refused password: the server would refuse it again, and may lock the account. Nor where it says that its
 * policy wants fewer mails (4.7).
 */
function isWorthAnotherConnection(outcome: SendOutcome): boolean {
  if (outcome.kind === "deferred") return outcome.error.replyCode === tooManyConnections;
  return (
    outcome.kind === "unavailable" &&
    outcome.error.code === "smtp-unavailable" &&
    outcome.ofMail?.statusCode?.startsWith("4.7.") !== true
  );
}
