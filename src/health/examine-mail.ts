import type { ProbeOutcome } from "../mail/mailer.ts";
import { type Finding, fine, serious } from "./finding.ts";

/** Connects to the mail server and signs in, and sends nothing. */
export async function examineMail(probe: () => Promise<ProbeOutcome>): Promise<Finding> {
  const outcome = await probe();
  if (outcome.kind === "ready") return fine("smtp", "The mail server takes connections and lets Waybill sign in");
  const { code, message } = outcome.error;
  return code === "smtp-authentication-failed"
    ? serious("smtp", `The mail server refuses the login: ${message}`, "Check user and password in SMTP_URL.")
    : serious(
        "smtp",
        message,
        "Check host and port in SMTP_URL, and that a firewall lets this machine out. Jobs wait meanwhile, and none is lost.",
      );
}
