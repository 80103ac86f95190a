import { isIP } from "node:net";
import { addressOf } from "../domain/recipients/address.ts";
import { domainOf } from "../mail/domain-of.ts";
import type { ProbeOutcome } from "../mail/mailer.ts";
import { createSmtpMailer, type SmtpSettings } from "../mail/smtp-mailer.ts";
import { type Finding, fine, serious, warning } from "./finding.ts";

/** Connects to the mail server and signs in, without sending a mail. */
export async function examineMail(
  url: string,
  smtp: Pick<SmtpSettings, "timeoutMs" | "answerTimeoutMs" | "name">,
  mailFrom: string,
): Promise<readonly Finding[]> {
  const mailer = createSmtpMailer({ url, maxConnections: 1, ...smtp });
  try {
    return [toFinding(await mailer.probe(), new URL(url).host), ...judgeSender(mailFrom, new URL(url).hostname)];
  } finally {
    await mailer.close();
  }
}

/** A server on this machine, or of the same network, may take any sender. */
function judgeSender(mailFrom: string, host: string): readonly Finding[] {
  const sender = addressOf(mailFrom);
  if (domainOf(sender).includes(".") || !host.includes(".") || isIP(host) !== 0) return [];
  return [
    warning(
      "smtp",
      `MAIL_FROM is ${sender}, a sender that mail servers refuse`,
      "Set MAIL_FROM for each process: who sends without a sender has this one, and all recipients fail.",
    ),
  ];
}

function toFinding(outcome: ProbeOutcome, host: string): Finding {
  if (outcome.kind === "ready") return fine("smtp", `The mail server at ${host} accepts connections and the login`);
  const { code, message } = outcome.error;
  return code === "smtp-authentication-failed"
    ? serious(
        "smtp",
        `The login at the mail server ${host} fails: ${message}`,
        "Check user and password in SMTP_URL; leave them out if the server wants none.",
      )
    : serious(
        "smtp",
        `${host}: ${message}`,
        "Check host and port in SMTP_URL (smtps:// for port 465), and that no firewall blocks this machine. Jobs wait meanwhile; none is lost.",
      );
}
