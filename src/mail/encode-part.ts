import { once } from "node:events";
import type { Transform } from "node:stream";
import { Encoder as Base64Encoder } from "nodemailer/lib/base64";
import type MimeNode from "nodemailer/lib/mime-node";
import { Encoder as QuotedPrintableEncoder } from "nodemailer/lib/qp";

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
 * Every line end as CRLF. nodemailer's connection writes them so, too, but only after the body would have been hashed for
 * its signature, which a lone CR then made invalid.
 */
const withNetworkLineEnds = (body: Buffer): Buffer =>
  Buffer.from(body.toString("latin1").replace(/\r\n|\r|\n/g, "\r\n"), "latin1");
