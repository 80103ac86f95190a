const ofSendgrid = "X-SMTPAPI";

/**
 * The header in which a mail has its token for a provider that gives that header back with what it reports, and the
 * Message-ID or return path not always: Postmark replaces both, and SendGrid leaves them out of complaints. Null for any
 * other mail server.
 */
export function tokenHeaderFor(host: string): string | null {
  if (/(?:^|\.)postmarkapp\.com$/i.test(host)) return "X-PM-Metadata-waybill";
  return /(?:^|\.)sendgrid\.net$/i.test(host) ? ofSendgrid : null;
}

/** What the header says: Postmark calls it metadata, SendGrid unique arguments. */
export const tokenValue = (header: string, token: string): string =>
  header === ofSendgrid ? JSON.stringify({ unique_args: { waybill: token } }) : token;
