const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,76}$/;

/** Headers that the service writes itself, or that record how a mail travelled. */
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

const mediaType =
  /^(?!multipart\/|message\/)[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(?:; ?[a-z0-9-]+=[a-z0-9_.-]+)*$/i;
const contentId = /^[A-Za-z0-9._+-]+(?:@[A-Za-z0-9.-]+)?$/;
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;
/**
 * Separators of any system, and characters that are invisible or change the reading direction (`exe.fdp` for
 * `pdf.exe`).
 */
const notInFileName = /[/\\\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u;

/** A plain file name: no path that leads elsewhere, and nothing that looks like another name. */
export const isFileName = (text: string): boolean =>
  !notInFileName.test(text) && text === text.trim() && text !== "." && text !== "..";

/** Excludes multipart types: their contents would be parsed as parts of the mail. */
export const isMediaType = (text: string): boolean => mediaType.test(text);

export const isContentId = (text: string): boolean => contentId.test(text);

/** Padded, and in one line. */
export const isBase64 = (text: string): boolean => text.length % 4 === 0 && base64.test(text);
