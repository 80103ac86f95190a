const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,76}$/;

/** Headers that the service writes itself, or that say how a mail travelled. */
const reserved = new Set([
  "apparently-to",
  "authentication-results",
  "bcc",
  "cc",
  "date",
  "delivered-to",
  "dkim-signature",
  "domainkey-signature",
  "envelope-to",
  "from",
  "message-id",
  "mime-version",
  "received",
  "received-spf",
  "reply-to",
  "return-path",
  "sender",
  "subject",
  "to",
  "x-original-to",
]);
const reservedPrefixes = ["arc-", "content-", "resent-"];

/** Whether a request may set a header of this name. */
export function isOpenHeaderName(name: string): boolean {
  const lower = name.toLowerCase();
  return headerName.test(name) && !reserved.has(lower) && !reservedPrefixes.some((prefix) => lower.startsWith(prefix));
}
