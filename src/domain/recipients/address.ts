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

/**
 * Whether a text contains an address, in any case, plain or as JSON and CSV write it. `nada@example.com` and
 * `ada@example.com.uk` do not contain `ada@example.com`. In doubt the result is true, because it
 * decides what has to be erased.
 */
export function namesAddress(text: string, address: string): boolean {
  const wanted = address.toLowerCase();
  const asJson = JSON.stringify(wanted).slice(1, -1);
  const asCsv = wanted.replaceAll('"', '""');
  const lower = text.toLowerCase();
  return [...new Set([wanted, asJson, asCsv])].some((form) => standsAlone(lower, form));
}

function standsAlone(text: string, form: string): boolean {
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) {
    const before = text.slice(Math.max(0, at - longestEscape), at);
    const after = text.slice(at + form.length, at + form.length + 2);
    const isLonger = (isPartOfAddress.test(before) && !isEscape.test(before)) || goesOn.test(after);
    if (!isLonger) return true;
  }
  return false;
}

/** The six characters of a \u escape: its last one is not part of the address after it, nor is the n of \n. */
const longestEscape = 6;
const isEscape = /\\(?:[bfnrt]|u[0-9a-f]{4})$/;
const isPartOfAddress = /[\p{L}\p{N}._+-]$/u;
const goesOn = /^(?:[\p{L}\p{N}_-]|\.[\p{L}\p{N}])/u;
