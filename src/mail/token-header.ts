/**
 * The header in which a mail has its token for a provider that replaces return path and Message-ID, and gives the header
 * back with what it reports; null for any other mail server. Postmark calls it metadata.
 */
export const tokenHeaderFor = (host: string): string | null =>
  /(?:^|\.)postmarkapp\.com$/i.test(host) ? "X-PM-Metadata-waybill" : null;
