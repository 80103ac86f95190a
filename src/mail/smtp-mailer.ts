import type { Readable } from "node:stream";
import { createTransport, type SendMailOptions } from "nodemailer";
import { addressOf } from "./address-of.ts";
import type { Mail, Mailer, SendOutcome } from "./mailer.ts";
import { maskReply } from "./mask.ts";
import { readFailure, type SmtpFailure, sessionError } from "./smtp-reply.ts";

export type SmtpSettings = {
  /** `smtp://user:password@host:port` or `smtps://…` */
  readonly url: string;
  readonly maxConnections: number;
  /** For one mail, from the connection to the final answer. */
  readonly timeoutMs: number;
};

/** What the transport did with one mail: the stream of its bytes, once it asked for it. */
type Handover = { body: Readable | null };
type TrackedMail = SendMailOptions & { readonly handover: Handover };

/**
 * How often a mail is tried on another connection when one could not be used and the body was surely not read. A pooled
 * connection that the server closed while it was idle is no outage.
 */
const triesOnConnections = 3;

export function createSmtpMailer({ url, maxConnections, timeoutMs }: SmtpSettings): Mailer {
  const connectMs = Math.min(10_000, timeoutMs);
  const transport = createTransport({
    ...fromUrl(url),
    pool: true,
    maxConnections,
    // The pool must not send again on its own: what is surely not sent is decided here.
    maxRequeues: 0,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    dnsTimeout: connectMs,
    // Longer than a mail may take: the signal of the mail ends it, and says so.
    socketTimeout: timeoutMs + 5000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  transport.use("stream", (message, done) => {
    const { handover } = message.data as TrackedMail;
    const create = message.message.createReadStream.bind(message.message);
    message.message.createReadStream = (options) => {
      const body = create(options);
      handover.body = body;
      return body;
    };
    done();
  });

  const sendOnce = async (mail: Mail): Promise<SendOutcome> => {
    const handover: Handover = { body: null };
    const mask = (text: string): string => maskReply(text, mail);
    try {
      const tracked: TrackedMail = { ...toMessage(mail), signal: AbortSignal.timeout(timeoutMs), handover };
      const { response } = await transport.sendMail(tracked);
      return { kind: "sent", response: mask(response) };
    } catch (failure) {
      return readFailure(failure as SmtpFailure, handover.body?.readableDidRead ?? false, mask);
    }
  };

  return {
    connections: maxConnections,
    send: async (mail) => {
      let outcome = await sendOnce(mail);
      for (let tries = 1; isWorthAnotherConnection(outcome) && tries < triesOnConnections; tries += 1) {
        outcome = await sendOnce(mail);
      }
      return outcome;
    },
    probe: async () => {
      try {
        await transport.verify();
        return { kind: "ready" };
      } catch (failure) {
        return { kind: "unavailable", error: sessionError(failure as SmtpFailure, (reply) => reply) };
      }
    },
    close: async () => transport.close(),
  };
}

function fromUrl(url: string) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const isSecure = protocol === "smtps:";
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    ...(username === "" ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
  };
}

/** The recipient is an object and the envelope explicit: a string could be read as several addresses. */
const toMessage = (mail: Mail): SendMailOptions => ({
  from: mail.from,
  to: { name: "", address: mail.to },
  subject: mail.subject,
  messageId: mail.messageId,
  headers: { ...mail.headers },
  envelope: { from: addressOf(mail.from), to: mail.to },
  ...(mail.replyTo === null ? {} : { replyTo: mail.replyTo }),
  ...(mail.html === null ? {} : { html: mail.html }),
  ...(mail.text === null ? {} : { text: mail.text }),
});

/** A server that refuses the password refuses it again, and may lock the account. */
const isWorthAnotherConnection = (outcome: SendOutcome): boolean =>
  outcome.kind === "unavailable" && outcome.error.code === "smtp-unavailable";
