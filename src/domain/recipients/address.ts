/** The address in `Name <address>`, or the whole text. */
export const addressOf = (mailbox: string): string => /<([^<>]*)>\s*$/.exec(mailbox)?.[1] ?? mailbox.trim();

/** The name in `Name <address>`, without its quotes; null for an address alone. */
export function nameOf(mailbox: string): string | null {
  const before = /^(.*?)\s*<[^<>]*>\s*$/.exec(mailbox)?.[1]?.trim() ?? "";
  const name = /^"(.*)"$/.exec(before)?.[1]?.trim() ?? before;
  return name === "" ? null : name;
}

/** `Name <address>`, the name in quotes where its characters need them. */
export function mailboxOf({ email, name }: { readonly email: string; readonly name?: string }): string {
  if (name === undefined) return email;
  const isPlain = /^[^()<>[\]:;@\\,."]*$/.test(name);
  return `${isPlain ? name : `"${name.replace(/["\\]/g, "\\$&")}"`} <${email}>`;
}

const isAscii = /^[\x21-\x7e]+$/;
const isUrl = /^https?:\/\//i;

/**
 * The same text for the same address, regardless of case, of Unicode composition and of how the domain is encoded.
 * Variants that only some providers treat alike (dots, a `+` and what follows) are different addresses. The addresses of
 * other kinds of jobs are URLs, whose case alone is disregarded.
 */
export function normalisedAddress(address: string): string {
  if (isAscii.test(address) || isUrl.test(address)) return address.toLowerCase();
  const lower = composed(address);
  const at = lower.lastIndexOf("@");
  // The Kelvin sign is composed to a K, so that only now the whole may be ASCII.
  return at === -1 || isAscii.test(lower) ? lower : `${lower.slice(0, at)}@${toAsciiDomain(lower.slice(at + 1))}`;
}

const composed = (text: string): string => text.normalize("NFC").toLowerCase();

/** A host that no domain beyond ASCII becomes. */
const noDomain = "[::]";

/** Empty for what is no domain. Does what `domainToASCII` of Node does, which browsers do not have. */
function toAsciiDomain(domain: string): string {
  const url = new URL(`ws://${noDomain}`);
  // What is no host changes nothing.
  url.hostname = domain;
  return url.hostname === noDomain ? "" : url.hostname;
}

/**
 * Whether a text contains an address, in any spelling, plain or as JSON and CSV write it. `nada@example.com` and
 * `ada@example.com.uk` do not contain `ada@example.com`. In doubt the result is true, because it
 * decides what has to be erased.
 */
export function namesAddress(text: string, address: string): boolean {
  const searched = composed(text);
  if (formsOf(composed(address)).some((form) => standsAlone(searched, form, ""))) return true;
  if (isUrl.test(address)) return false;
  const wanted = normalisedAddress(address);
  const at = wanted.lastIndexOf("@") + 1;
  const domain = wanted.slice(at);
  return domain !== "" && formsOf(wanted.slice(0, at)).some((form) => standsAlone(searched, form, domain));
}

function formsOf(text: string): readonly string[] {
  const asJson = JSON.stringify(text).slice(1, -1);
  const asCsv = text.replaceAll('"', '""');
  return [...new Set([text, asJson, asCsv])];
}

/** Whether a form stands there with nothing before it, and with this domain, in any spelling, and nothing else behind. */
function standsAlone(text: string, form: string, domain: string): boolean {
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) {
    const before = text.slice(Math.max(0, at - longestEscape), at);
    const end = at + form.length;
    const isLonger = isPartOfAddress.test(before) && !isEscape.test(before);
    if (!isLonger && beginsWithDomain(text.slice(end, end + longestDomain), domain)) return true;
  }
  return false;
}

function beginsWithDomain(text: string, domain: string): boolean {
  if (text.startsWith(domain) && !goesOn.test(text.slice(domain.length))) return true;
  if (domain === "") return false;
  const [letters = ""] = lettersOfDomain.exec(text) ?? [];
  for (let end = letters.length; end > 0; end -= 1) {
    const spelled = text.slice(0, end);
    if (isAscii.test(spelled)) return false;
    if (!goesOn.test(text.slice(end)) && toAsciiDomain(spelled) === domain) return true;
  }
  return false;
}

/** More than a domain and what shows that it ends; one has at most 253 characters. */
const longestDomain = 256;
/** Which of those beyond ASCII are part of a domain, and which are a quotation mark behind it, only its ASCII form shows. */
const lettersOfDomain = /^(?:[a-z0-9._-]|[^\p{ASCII}\s])+/u;

/** The six characters of a \u escape: its last one is not part of the address after it, nor is the n of \n. */
const longestEscape = 6;
const isEscape = /\\(?:[bfnrt]|u[0-9a-f]{4})$/;
const isPartOfAddress = /[\p{L}\p{N}._+-]$/u;
const goesOn = /^(?:[\p{L}\p{N}_-]|\.[\p{L}\p{N}])/u;
