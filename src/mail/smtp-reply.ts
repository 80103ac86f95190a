import type { JobError } from "../domain/job/events.ts";
import { type DeliveryError, outcomeUnknown, type SendOutcome } from "../domain/recipients/events.ts";
import { endedByUs, ofSender, type SmtpFailure, unsendable } from "./smtp-failure.ts";

/** The enhanced status code of RFC 3463 behind the reply code: `550 5.1.1 No such user`. */
const enhancedStatus = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/;

const serviceNotAvailable = 421;
const badSequence = 503;
/** Not 454: in answer to a mail it asks for patience, as that of Amazon SES does, and says nothing of the login. */
const authentication: readonly number[] = [530, 534, 535, 538];
const beforeAnyMail = /^(CONN|EHLO|HELO|LHLO|STARTTLS|AUTH)/;

/**
 * The account has sent as much as it may for now, by the refusals of Google and of Microsoft 365: not this mail is refused, and
 * tomorrow it is taken. RFC 3463 3.5 says of X.4.5 that it is useful as a transient error only.
 */
const quotaUsedUp =
  /^5\d\d[ -]5\.(?:4\.5|1\.90|7\.23[23])\b|^5\d\d[ -]5\.7\.1 (?:Daily SMTP relay (?:sending )?limit|Email quota) exceeded|SubmissionQuotaExceeded/;

/** How far a mail had come when it failed: there was no connection to say anything of it; its end was not written; or was. */
type Progress = "unsaid" | "begun" | "written";

/**
 * What a failure means for the mail (RFC 5321 4.2.1, 4.5.3.2.6). Once its end is written, only a reply tells whether it was
 * taken.
 */
export function readFailure(failure: SmtpFailure, progress: Progress, mask: (text: string) => string): SendOutcome {
  const message = mask(failure.response ?? failure.message);
  const deliveryError = (code: string): DeliveryError => ({
    code,
    message,
    replyCode: failure.responseCode ?? null,
    statusCode: enhancedStatus.exec(failure.response ?? "")?.[1] ?? null,
  });
  const unavailable = (): SendOutcome => {
    const error = sessionError(failure, mask);
    if (progress === "unsaid" || isAboutServer(failure)) return { kind: "unavailable", error };
    // See receiver-patience.ts.
    return { kind: "unavailable", error, ofMail: deliveryError("deferred") };
  };
  if (isAboutSession(failure)) return unavailable();
  if (failure.responseCode !== undefined) {
    return failure.responseCode >= 500 && !quotaUsedUp.test(failure.response ?? "")
      ? { kind: "failed", error: deliveryError(failure.command === ofSender ? "sender-rejected" : "rejected") }
      : { kind: "deferred", error: deliveryError("deferred") };
  }
  if (failure.code === unsendable) return { kind: "failed", error: deliveryError("unsendable") };
  if (progress === "written") return { kind: "unknown", error: deliveryError(outcomeUnknown) };
  if (failure.code === endedByUs) return { kind: "deferred", error: deliveryError("timed-out") };
  return unavailable();
}

/** RFC 3463: the status of the server (4.3), such as a shutdown, and of the connection (4.4), such as one idle for too long. */
const isAboutServer = ({ response = "" }: SmtpFailure): boolean => /^421[ -]4\.[34]\./.test(response);

/** A reply that refuses every mail, whatever its recipient. */
function isAboutSession({ responseCode, command = "" }: SmtpFailure): boolean {
  if (responseCode === undefined) return false;
  return (
    responseCode === serviceNotAvailable ||
    responseCode === badSequence ||
    authentication.includes(responseCode) ||
    beforeAnyMail.test(command)
  );
}

/** Whether the mail server refused only this mail, so that the next one can use the same connection. */
export const leavesSessionUsable = (failure: SmtpFailure): boolean =>
  !isAboutSession(failure) && (failure.responseCode !== undefined || failure.code === unsendable);

/** The connection ended without a reply that says why. */
export const isUnanswered = ({ responseCode, code }: SmtpFailure): boolean =>
  responseCode === undefined && code !== unsendable;

/** Why the mail server accepts no mail. Without a reply it names only the error code: the text contains the server's address. */
export function sessionError(failure: SmtpFailure, mask: (text: string) => string): JobError {
  const { code = "no connection", originalCode = code, responseCode = 0, response } = failure;
  const isRefusedLogin = code === "EAUTH" || (code !== "ETLS" && authentication.includes(responseCode));
  return {
    code: isRefusedLogin ? "smtp-authentication-failed" : "smtp-unavailable",
    message: response === undefined ? `The mail server cannot be used: ${originalCode}.` : mask(response),
  };
}
