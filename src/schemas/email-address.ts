import { domainToASCII, domainToUnicode } from "node:url";
import { Type } from "typebox";
import { controlCharacter } from "../domain/recipients/display-name.ts";

const maxAddressBytes = 254;
const maxLocalPartBytes = 64;
const maxMailboxLength = 500;

/** RFC 5322 `atext` and dots, and beyond ASCII whatever RFC 6531 allows. Quoted local parts are rejected. */
const localPart = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.\u{80}-\u{10FFFF}-]+$/u;
const domainName = /^[A-Za-z0-9.\u{80}-\u{10FFFF}-]+$/u;
/** A label that is no Punycode, which Node takes as it is from version 24 on. */
const leftEncoded = /(?:^|\.)xn--/;
const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;
/** Control, format, private and unassigned characters, halves of surrogate pairs, and every kind of space. */
const invisible = /[\p{C}\p{Z}]/u;

export const address = Type.String({ format: "email", description: "an e-mail address such as ada@example.com" });

/**
 * An address that a mail server can deliver to, checked in time linear to its length: a local part without quotes, and
 * a domain name, internationalised or not, but no address literal.
 */
export function isEmailAddress(text: string): boolean {
  if (text.length > maxAddressBytes || Buffer.byteLength(text) > maxAddressBytes || invisible.test(text)) return false;
  const at = text.lastIndexOf("@");
  return at > 0 && isLocalPart(text.slice(0, at)) && isDomain(text.slice(at + 1));
}

/** A local part that compatibility mapping would change (a fullwidth @) is rejected as well. */
const isLocalPart = (text: string): boolean =>
  Buffer.byteLength(text) <= maxLocalPartBytes && isDotAtom(text) && isDotAtom(text.normalize("NFKC"));

const isDotAtom = (text: string): boolean =>
  localPart.test(text) && !text.startsWith(".") && !text.endsWith(".") && !text.includes("..");

/** Checked in its ASCII form, which is sent over the wire; with a numeric last label it would be an IP address. */
function isDomain(text: string): boolean {
  if (!domainName.test(text)) return false;
  const ascii = domainToASCII(text);
  const labels = ascii.split(".");
  const isName = ascii.length <= 253 && labels.every((one) => label.test(one)) && !/^\d+$/.test(labels.at(-1) ?? "");
  return isName && !leftEncoded.test(domainToUnicode(ascii));
}

/**
 * `ada@example.com`, `Ada Lovelace <ada@example.com>` or `"Lovelace, Ada" <ada@example.com>`: exactly one address, for
 * any parser.
 */
export function isMailbox(text: string): boolean {
  if (text.length > maxMailboxLength || controlCharacter.test(text)) return false;
  const open = text.lastIndexOf("<");
  if (open === -1) return isEmailAddress(text);
  return text.endsWith(">") && isEmailAddress(text.slice(open + 1, -1)) && isDisplayName(text.slice(0, open).trim());
}

const isDisplayName = (text: string): boolean => /^(?:"[^"\\]*"|[^()<>[\]:;@\\,"]*)$/.test(text);
