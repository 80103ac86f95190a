export type MailPart = {
  readonly type: string;
  readonly filename: string | null;
  readonly text: string | null;
  readonly size: number;
};

export type ReadMail = {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly html: string | null;
  readonly text: string | null;
  readonly attachments: readonly MailPart[];
};

/** Deeper than any honest mail. */
const maxDepth = 10;

/** A mail as it was received (RFC 5322, 2045 to 2047). */
export function readMail(bytes: Uint8Array): ReadMail {
  const source = toByteText(bytes);
  const { headers } = splitPart(source);
  const parts = partsOf(source, 0);
  const shown = (type: string): string | null =>
    parts.find((part) => part.type === type && part.filename === null)?.text ?? null;
  return {
    headers: headers.map(([name, value]) => [name, decodeWords(value)] as const),
    html: shown("text/html"),
    text: shown("text/plain"),
    attachments: parts.filter((part) => part.filename !== null || !part.type.startsWith("text/")),
  };
}

/** One character for each byte: each part names its own charset. In pieces, as a call takes only so many arguments. */
function toByteText(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 8192) pieces.push(String.fromCharCode(...bytes.subarray(at, at + 8192)));
  return pieces.join("");
}

type Headers = readonly (readonly [name: string, value: string])[];

function splitPart(source: string): { readonly headers: Headers; readonly body: string } {
  const end = /^\r?\n|\r?\n\r?\n/.exec(source);
  const head = end === null ? source : source.slice(0, end.index);
  const body = end === null ? "" : source.slice(end.index + end[0].length);
  const lines = head.replace(/\r?\n(?=[ \t])/g, "").split(/\r?\n/);
  const headers = lines.flatMap((line) => {
    const [, name, value = ""] = /^([!-9;-~]+):\s*(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, value] as const];
  });
  return { headers, body };
}

const fieldOf = (headers: Headers, name: string): string =>
  headers.find(([one]) => one.toLowerCase() === name)?.[1] ?? "";

const parameterOf = (value: string, name: string): string | null => {
  const [, quoted, plain] = new RegExp(`;\\s*${name}="?(?:([^"]*)"|([^\\s;"]+))`, "i").exec(value) ?? [];
  return quoted ?? plain ?? null;
};

function partsOf(source: string, depth: number): readonly MailPart[] {
  const { headers, body } = splitPart(source);
  const contentType = fieldOf(headers, "content-type") || "text/plain";
  const type = (contentType.split(";")[0] ?? "").trim().toLowerCase();
  const boundary = parameterOf(contentType, "boundary");
  if (type.startsWith("multipart/") && boundary !== null && depth < maxDepth) {
    const pieces = `\r\n${body}`.split(`\n--${boundary}`).slice(1);
    const last = pieces.findIndex((piece) => piece.startsWith("--"));
    const inside = last === -1 ? pieces : pieces.slice(0, last);
    return inside.flatMap((piece) => partsOf(piece.replace(/^[ \t]*\r?\n/, "").replace(/\r$/, ""), depth + 1));
  }
  const bytes = decodeTransfer(body, fieldOf(headers, "content-transfer-encoding").trim().toLowerCase());
  const disposition = fieldOf(headers, "content-disposition");
  const name = parameterOf(disposition, "filename") ?? parameterOf(contentType, "name");
  const isAttached = name !== null || /^attachment/i.test(disposition);
  const text = type.startsWith("text/") ? decode(bytes, parameterOf(contentType, "charset") ?? "utf-8") : null;
  return [{ type, filename: isAttached ? decodeWords(name ?? "unnamed") : null, text, size: bytes.length }];
}

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0) & 0xff);

function decodeTransfer(body: string, encoding: string): Uint8Array {
  if (encoding === "base64") return fromBase64(body);
  return bytesOf(encoding === "quoted-printable" ? fromQuoted(body.replace(/=[ \t]*\r?\n/g, "")) : body);
}

function fromBase64(text: string): Uint8Array {
  try {
    return bytesOf(atob(text.replace(/[^A-Za-z0-9+/]/g, "")));
  } catch {
    return new Uint8Array();
  }
}

const fromQuoted = (text: string): string =>
  text.replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

function decode(bytes: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder("latin1").decode(bytes);
  }
}

/** RFC 2047; adjacent encoded words belong together. Text that is not an encoded word may be UTF-8 (RFC 6532). */
function decodeWords(value: string): string {
  const plain = decode(bytesOf(value), "utf-8");
  return plain
    .replace(/(\?=)\s+(?==\?)/g, "$1")
    .replace(/=\?([^?\s*]+)(?:\*[^?\s]*)?\?([bq])\?([^?\s]*)\?=/gi, (_, charset: string, kind: string, text: string) =>
      decode(kind.toLowerCase() === "b" ? fromBase64(text) : bytesOf(fromQuoted(text.replaceAll("_", " "))), charset),
    );
}
