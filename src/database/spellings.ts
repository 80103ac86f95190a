/**
 * Patterns for `LIKE … ESCAPE '!'` that leave out no text with an address, however it is spelt: the first for texts that are
 * all ASCII, the second for any. Pass what normalisedAddress made of it, as the texts write it, and compare without regard
 * to case. What they match may still be another address.
 */
export function patternsOf(address: string): readonly [inAscii: string, inAny: string] {
  const begin = address.slice(0, address.lastIndexOf("@") + 1);
  // Beyond ASCII a domain has too many spellings: the letters of a domain in ASCII, too, may be fullwidth ones.
  return [patternOf(address), patternOf(begin === "" ? address : begin)];
}

/** For the two as bindings. `text` is what to compare of the column. */
export const likeSpellings = (column: string, text: string): string =>
  `${text} LIKE IF(OCTET_LENGTH(${column}) = CHAR_LENGTH(${column}), ?, ?) ESCAPE '!'`;

/**
 * Databases and JavaScript lower letters beyond ASCII in different ways, and marks are composed with what stands before
 * them, so a pattern says nothing about either. Of other characters Unicode makes a k, a ` and a semicolon.
 */
function patternOf(text: string): string {
  const known = text
    .replace(/\p{ASCII}?\p{M}+/gu, "\u{fffd}")
    .replace(/[!%_]/g, "!$&")
    .replace(/\P{ASCII}+/gu, "%")
    .replace(/[k`;]/g, "_");
  return `%${known}%`;
}
