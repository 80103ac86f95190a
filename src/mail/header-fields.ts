/** One field of a header. Its line is folded as it goes over the wire, with a character for each byte. */
export type HeaderField = {
  /** In lower case. */
  readonly key: string;
  readonly line: string;
};

/** The fields of a whole header, in their order: a line that begins with white space belongs to the one before it. */
export const readHeaderFields = (header: Buffer): HeaderField[] =>
  header
    .toString("latin1")
    .trimEnd()
    .split(/\r\n(?![ \t])/)
    .map((line) => ({ key: line.slice(0, line.indexOf(":")).toLowerCase(), line }));

/** Text as the bytes of its UTF-8, a character for each. */
export const toBytesAsText = (text: string): string => Buffer.from(text).toString("latin1");
