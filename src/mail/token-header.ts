const ofSendgrid = "X-SMTPAPI";
const ofPostmark = /(?:^|\.)postmarkapp\.com$/i;
const ofSes = /(?:^|\.)email-smtp(?:-fips)?\.[a-z0-9-]+\.(?:vpce\.)?amazonaws\.com(?:\.cn)?$/i;

/**
 * The header in which a mail has its token for a provider that gives that header back with what it reports, and the
 * Message-ID or return path not always: Postmark replaces both, and SendGrid leaves them out of complaints. Null for any
 * other mail server.
 */
export function tokenHeaderFor(host: string): string | null {
  if (ofPostmark.test(host)) return "X-PM-Metadata-waybill";
  return /(?:^|\.)sendgrid\.net$/i.test(host) ? ofSendgrid : null;
}

/** What the header says: Postmark calls it metadata, SendGrid unique arguments. */
export const tokenValue = (header: string, token: string): string =>
  header === ofSendgrid ? JSON.stringify({ unique_args: { waybill: token } }) : token;

/**
 * The fields, in lower case, that a provider writes anew, whatever the mail says: no signature that covers them would be valid
 * at the receiver. Amazon SES asks its senders to leave them out.
 */
export function fieldsReplacedBy(host: string): readonly string[] {
  if (ofSes.test(host)) return ["message-id", "date"];
  return ofPostmark.test(host) ? ["message-id"] : [];
}
