/** The fields of a header, or of a block of a delivery status, by their names in lower case; the first of a name counts. */
export type Fields = ReadonlyMap<string, string>;

const field = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*:(.*)$/;
/** A report with more is no report that a mail server has written. */
const mostBlocks = 200;

/** Blocks of fields with empty lines between (RFC 3464 2.1). Lines that begin with white space go on. */
export function blocksIn(text: string): readonly Fields[] {
  return text
    .replace(/\r\n?/g, "\n")
    .split(/\n[ \t]*\n/, mostBlocks)
    .map(fieldsIn)
    .filter(({ size }) => size > 0);
}

/** The fields at the beginning of a text, up to its first empty line. */
export const headerIn = (text: string): Fields =>
  fieldsIn(text.replace(/\r\n?/g, "\n").split(/\n[ \t]*\n/, 1)[0] ?? "");

function fieldsIn(block: string): Fields {
  const fields = new Map<string, string>();
  let last: string | null = null;
  for (const line of block.split("\n")) {
    if (/^[ \t]/.test(line)) {
      if (last !== null) fields.set(last, `${fields.get(last)} ${line.trim()}`);
      continue;
    }
    const [, name, value = ""] = field.exec(line) ?? [];
    last = name === undefined || fields.has(name.toLowerCase()) ? null : name.toLowerCase();
    if (last !== null) fields.set(last, value.trim());
  }
  return fields;
}

/** `rfc822; ada@example.com` without its type, and `550 5.1.1 (no such user)` as it is. */
export const withoutType = (value: string): string => value.replace(/^[A-Za-z0-9-]+[ \t]*;[ \t]*/, "");

/** What RFC 3461 4 writes as `+3D`. */
const fromXtext = (text: string): string =>
  text.replace(/\+([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** RFC 3461 4.4 alone is written in xtext. In a return path `bounces+19f4…` the same characters are part of the token. */
const inXtext = "original-envelope-id";

const naming = [
  "return-path",
  "message-id",
  "x-envelope-from",
  "x-original-message-id",
  inXtext,
  "errors-to",
  "cfbl-feedback-id",
];

/** The fields in which the token of a mail may stand. */
export const namesIn = (fields: Fields): readonly string[] =>
  naming.flatMap((name) => {
    const value = fields.get(name);
    return value === undefined ? [] : [name === inXtext ? fromXtext(value) : value];
  });
