import { once } from "node:events";
import type { Transform } from "node:stream";
import { Encoder as Base64Encoder } from "nodemailer/lib/base64";
import MimeNode from "nodemailer/lib/mime-node";
import { Encoder as QuotedPrintableEncoder } from "nodemailer/lib/qp";
import type { PersonalParts } from "./mailer.ts";

/** A body in chunks. Mails of one letter share the chunks that are the same, however large. */
export type ComposedBody = {
  readonly chunks: readonly Buffer[];
  /** The encoding of the root if it is itself the text; null for a body of several parts. */
  readonly transferEncoding: string | null;
};

type Texts = Pick<PersonalParts, "html" | "text">;

/** Writes the body of a message with the given texts; everything else comes from the tree of parts. */
export type BodyWriter = (texts: Texts) => Promise<ComposedBody>;

const newLine = Buffer.from("\r\n");

/** For a tree of parts that nodemailer built. Attachments are encoded once, texts for each mail. */
export function createBodyWriter(root: MimeNode): BodyWriter {
  const encoded = new Map<MimeNode, Promise<Buffer>>();
  const encodedOnce = (part: MimeNode): Promise<Buffer> => {
    const known = encoded.get(part) ?? encodeContentOf(part);
    encoded.set(part, known);
    return known;
  };

  const writePart = async (part: MimeNode, texts: Texts): Promise<readonly Buffer[]> => {
    const text = textFor(part, texts);
    const fresh = text === null ? part : likePart(part, text);
    const header = Buffer.from(`${fresh.buildHeaders()}\r\n\r\n`);
    if (part.childNodes.length > 0) return [header, ...(await writeParts(part, texts))];
    return [header, await (text === null ? encodedOnce(part) : encodeContentOf(fresh))];
  };

  const writeParts = async (parent: MimeNode, texts: Texts): Promise<readonly Buffer[]> => {
    const chunks: Buffer[] = [];
    for (const part of parent.childNodes) {
      chunks.push(Buffer.from(`${chunks.length > 0 ? "\r\n" : ""}--${parent.boundary}\r\n`));
      chunks.push(...(await writePart(part, texts)));
    }
    return [...chunks, Buffer.from(`\r\n--${parent.boundary}--\r\n`)];
  };

  return async (texts) => {
    if (root.childNodes.length > 0) return { chunks: joinSmall(await writeParts(root, texts)), transferEncoding: null };
    const text = textFor(root, texts);
    const part = text === null ? root : likePart(root, text);
    const content = await encodeContentOf(part);
    // Every message ends with a line end; with an empty body, that of the header is enough.
    const isEnded = content.length === 0 || content.at(-1) === 0x0a;
    const chunks = isEnded ? [content] : [content, newLine];
    return { chunks: joinSmall(chunks), transferEncoding: part.getTransferEncoding() || null };
  };
}

/** Null for an attachment, and for a part that holds other parts. */
function textFor(part: MimeNode, { html, text }: Texts): string | null {
  if (part.childNodes.length > 0 || part.getHeader("Content-Disposition")) return null;
  return typeOf(part).startsWith("text/html") ? (html ?? "") : (text ?? "");
}

/** A part caches facts about its content, so each content needs a part of its own. */
const likePart = (part: MimeNode, content: string): MimeNode =>
  new MimeNode("multipart/alternative").createChild(typeOf(part)).setContent(content);

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

/** The content of a part as it goes over the wire, in the encoding that nodemailer chooses for it. */
export async function encodeContentOf(part: MimeNode): Promise<Buffer> {
  const { content } = part;
  if (typeof content !== "string" && !Buffer.isBuffer(content)) return Buffer.alloc(0);
  const bytes = Buffer.from(content);
  const encoding = part.getTransferEncoding();
  if (encoding === "base64") return await passedThrough(new Base64Encoder(), bytes);
  const isQuoted = encoding === "quoted-printable";
  return withNetworkLineEnds(isQuoted ? await passedThrough(new QuotedPrintableEncoder(), bytes) : bytes);
}

/** nodemailer's functions of the same names do not break lines where its streams do. */
async function passedThrough(encoder: Transform, bytes: Buffer): Promise<Buffer> {
  const encoded: Buffer[] = [];
  encoder.on("data", (chunk: Buffer) => encoded.push(chunk));
  const ended = once(encoder, "end");
  encoder.end(bytes);
  await ended;
  return Buffer.concat(encoded);
}

/**
 * Every line end as CRLF. nodemailer's connection also converts them, but only after the body was hashed for its
 * signature, which a lone CR would then make invalid.
 */
const withNetworkLineEnds = (body: Buffer): Buffer =>
  Buffer.from(body.toString("latin1").replace(/\r\n|\r|\n/g, "\r\n"), "latin1");
