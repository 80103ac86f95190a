import type { ProbeOutcome } from "../mail/mailer.ts";
import { createSmtpMailer, type SmtpSettings } from "../mail/smtp-mailer.ts";
import { type Finding, fine, serious } from "./finding.ts";

/** Connects to the mail server and signs in, without sending a mail. */
export async function examineMail(
  url: string,
  smtp: Pick<SmtpSettings, "timeoutMs" | "answerTimeoutMs" | "name">,
): Promise<readonly Finding[]> {
  const mailer = createSmtpMailer({ url, maxConnections: 1, ...smtp });
  try {
    return [toFinding(await mailer.probe(), new URL(url).host)];
  } finally {
    await mailer.close();
  }
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
        "Check host and port in SMTP_URL, and that no firewall blocks this machine. Jobs wait meanwhile; none is lost.",
      );
}
