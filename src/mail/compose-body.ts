import { once } from "node:events";
import type { Transform } from "node:stream";
import { Encoder as Base64Encoder } from "nodemailer/lib/base64";
import MimeNode from "nodemailer/lib/mime-node";
import { encode, Encoder as QuotedPrintableEncoder, wrap } from "nodemailer/lib/qp";
import type { PersonalParts } from "./mailer.ts";

/** A body in chunks. Mails of one letter share the chunks that are the same, however large. */
export type ComposedBody = {
  readonly chunks: readonly Buffer[];
  /** The encoding of the root if it is itself the text; null for a body of several parts. */
  readonly transferEncoding: string | null;
};

type Texts = Pick<PersonalParts, "html" | "text">;

/**
 * Writes the body of a message with the given texts; everything else comes from the tree of parts, its boundaries as
 * `renamed` returns them.
 */
export type BodyWriter = (texts: Texts, renamed?: Renaming) => Promise<ComposedBody>;

type Renaming = (boundary: string) => string;

const newLine = Buffer.from("\r\n");
const asBuilt: Renaming = (boundary) => boundary;

/** For a tree of parts that nodemailer built. Attachments are encoded once, texts for each mail. */
export function createBodyWriter(root: MimeNode): BodyWriter {
  const encoded = new Map<MimeNode, ReturnType<typeof encodeContentOf>>();
  const encodedOnce = (part: MimeNode): ReturnType<typeof encodeContentOf> => {
    const known = encoded.get(part) ?? encodeContentOf(part);
    encoded.set(part, known);
    return known;
  };
  const textHeader = createTextHeaders();

  const writePart = async (part: MimeNode, texts: Texts, renamed: Renaming): Promise<readonly Buffer[]> => {
    const text = textFor(part, texts);
    if (text !== null) {
      const { encoding, content } = await encodeText(text);
      return [textHeader(part, encoding), content];
    }
    const header = Buffer.from(renamed(`${part.buildHeaders()}\r\n\r\n`));
    if (part.childNodes.length > 0) return [header, ...(await writeParts(part, texts, renamed))];
    return [header, (await encodedOnce(part)).content];
  };

  const writeParts = async (parent: MimeNode, texts: Texts, renamed: Renaming): Promise<readonly Buffer[]> => {
    const boundary = renamed(String(parent.boundary));
    const chunks: Buffer[] = [];
    for (const part of parent.childNodes) {
      chunks.push(Buffer.from(`${chunks.length > 0 ? "\r\n" : ""}--${boundary}\r\n`));
      chunks.push(...(await writePart(part, texts, renamed)));
    }
    return [...chunks, Buffer.from(`\r\n--${boundary}--\r\n`)];
  };

  return async (texts, renamed = asBuilt) => {
    if (root.childNodes.length > 0) {
      return { chunks: joinSmall(await writeParts(root, texts, renamed)), transferEncoding: null };
    }
    const text = textFor(root, texts);
    const { encoding, content } = text === null ? await encodeContentOf(root) : await encodeText(text);
    // Every message ends with a line end; with an empty body, that of the header is enough.
    const isEnded = content.length === 0 || content.at(-1) === 0x0a;
    const chunks = isEnded ? [content] : [content, newLine];
    return { chunks: joinSmall(chunks), transferEncoding: encoding };
  };
}

/** Null for an attachment, and for a part that holds other parts. */
function textFor(part: MimeNode, { html, text }: Texts): string | null {
  if (part.childNodes.length > 0 || part.getHeader("Content-Disposition")) return null;
  return typeOf(part).startsWith("text/html") ? (html ?? "") : (text ?? "");
}

const typeOf = (part: MimeNode): string => String(part.getHeader("Content-Type"));

const largeBytes = 64 * 1024;

/** Large chunks are shared by all mails and never copied; small ones are joined, because one write is faster. */
function joinSmall(chunks: readonly Buffer[]): readonly Buffer[] {
  const joined: Buffer[] = [];
  let small: Buffer[] = [];
  const endSmall = (): void => {
    if (small.length > 0) joined.push(Buffer.concat(small));
    small = [];
  };
  for (const chunk of chunks) {
    if (chunk.length < largeBytes) small.push(chunk);
    else {
      endSmall();
      joined.push(chunk);
    }
  }
  endSmall();
  return joined;
}

/** The header of a text depends on nothing but its type and its encoding. */
function createTextHeaders(): (part: MimeNode, encoding: TextEncoding | null) => Buffer {
  const known = new Map<string, Buffer>();
  return (part, encoding) => {
    const key = `${typeOf(part)} ${encoding}`;
    const header = known.get(key) ?? writeTextHeader(typeOf(part), encoding);
    known.set(key, header);
    return header;
  };
}

function writeTextHeader(type: string, encoding: TextEncoding | null): Buffer {
  const part = new MimeNode("multipart/alternative").createChild(type);
  if (encoding !== null) part.setHeader("Content-Transfer-Encoding", encoding);
  return Buffer.from(`${part.buildHeaders()}\r\n\r\n`);
}

type TextEncoding = "7bit" | "quoted-printable" | "base64";

const sevenBit = /^[\t\n\r\x20-\x7f]*$/;
const longLine = /^.{77,}/m;
/** Longer texts count as having long lines. */
const mostLookedThrough = 128 * 1024;

/** As nodemailer chooses it: for other than short lines of ASCII, what needs less room. Null for an empty text. */
function transferEncodingOf(text: string): TextEncoding | null {
  if (text === "") return null;
  if (sevenBit.test(text) && text.length <= mostLookedThrough && !longLine.test(text)) return "7bit";
  let [others, latin] = [0, 0];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if ((code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)) latin += 1;
    else if (code >= 0x80 || (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d)) others += 1;
  }
  return others < latin ? "quoted-printable" : "base64";
}

type Encoded<Encoding> = { readonly encoding: Encoding | null; readonly content: Buffer };

/** RFC 2046 4.1.1: the lines of a text end with CRLF, also within base64, which nodemailer makes of them as they are. */
async function encodeText(given: string): Promise<Encoded<TextEncoding>> {
  const text = given.replace(lineEnd, "\r\n");
  const encoding = transferEncodingOf(text);
  const content = encoding === "7bit" ? Buffer.from(text, "latin1") : await encodeBytes(Buffer.from(text), encoding);
  return { encoding, content };
}

/** An attachment as it goes over the wire, in the encoding that nodemailer chooses for it. */
async function encodeContentOf(part: MimeNode): Promise<Encoded<string>> {
  const encoding = part.getTransferEncoding() || null;
  const { content } = part;
  const isThere = typeof content === "string" || Buffer.isBuffer(content);
  return { encoding, content: isThere ? await encodeBytes(Buffer.from(content), encoding) : Buffer.alloc(0) };
}

async function encodeBytes(bytes: Buffer, encoding: string | null): Promise<Buffer> {
  if (encoding === "base64") return await passedThrough(new Base64Encoder(), bytes);
  return withNetworkLineEnds(
    encoding === "quoted-printable" ? await toQuotedPrintable(bytes) : bytes.toString("latin1"),
  );
}

/** For longer bytes, and those that end with white space, nodemailer's functions break lines where its streams do not. */
const mostAtOnce = 64 * 1024;
const whiteSpace: readonly (number | undefined)[] = [0x20, 0x09];

async function toQuotedPrintable(bytes: Buffer): Promise<string> {
  if (bytes.length <= mostAtOnce && !whiteSpace.includes(bytes.at(-1))) return wrap(encode(bytes), 76);
  return (await passedThrough(new QuotedPrintableEncoder(), bytes)).toString("latin1");
}

async function passedThrough(encoder: Transform, bytes: Buffer): Promise<Buffer> {
  const encoded: Buffer[] = [];
  encoder.on("data", (chunk: Buffer) => encoded.push(chunk));
  const ended = once(encoder, "end");
  encoder.end(bytes);
  await ended;
  return Buffer.concat(encoded);
}

const lineEnd = /\r\n|\r|\n/g;

/**
 * Every line end as CRLF. nodemailer's connection also converts them, but only after the body was hashed for its
 * signature, which a lone CR would then make invalid.
 */
const withNetworkLineEnds = (body: string): Buffer => Buffer.from(body.replace(lineEnd, "\r\n"), "latin1");
