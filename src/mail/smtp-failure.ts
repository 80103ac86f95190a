import type { Reply } from "./smtp-reply-reader.ts";

/** Why a mail was not sent, or no connection opened: as nodemailer reports it, or as a reply of the mail server says. */
export type SmtpFailure = Error & {
  readonly code?: string | undefined;
  /** The command that the reply belongs to: one with which nodemailer opens a connection, `CONN`, `EHLO`, `AUTH PLAIN`, or MAIL. */
  readonly command?: string | undefined;
  readonly responseCode?: number | undefined;
  readonly response?: string | undefined;
  /** The code of the system, if nodemailer replaced it with its own: `ECONNREFUSED`. */
  readonly originalCode?: string | undefined;
};

/** The code for a mail that took too long, so that Waybill closed its connection. */
export const endedByUs = "EABORT";
/** The code for an address that cannot be said to a mail server, and for a mail that cannot be composed. */
export const unsendable = "EENVELOPE";

/** The command that names the sender, and no recipient yet. */
export const ofSender = "MAIL FROM";

export const failureOf = (code: string, message: string): SmtpFailure => Object.assign(new Error(message), { code });

export const closedByServer = (): SmtpFailure => failureOf("ECONNECTION", "The mail server closed the connection");

export const brokenProtocol = (): SmtpFailure => failureOf("EPROTOCOL", "The mail server broke the protocol");

/** For a reply that stops a mail. One that agrees can only do so by coming at the wrong time. */
export const failureBy = ({ code, text }: Reply, command?: string): SmtpFailure =>
  code < 400 ? brokenProtocol() : Object.assign(new Error(text), { responseCode: code, response: text, command });
