/** A line end other than CRLF, or a dot that begins a line. */
const unfit = /\r(?!\n)|(?<!\r)\n|(?:^|\n)\./;

/**
 * Text as a mail server reads it between DATA and the final dot, with one character for each byte: its lines end with
 * CRLF alone, because servers disagree about the others and could see the end of the mail there, and the dot that begins
 * one is doubled (RFC 5321 2.3.8, 4.5.2).
 */
export function toMailData(text: string): string {
  if (!unfit.test(text)) return text;
  return text.replace(/\r\n|\r|\n/g, "\r\n").replace(/(^|\n)\./g, "$1..");
}

/** The text as the mail server takes it from such data, each dot once. */
export const fromMailData = (data: string): string => data.replace(/(^|\n)\./g, "$1");
