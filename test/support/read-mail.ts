import { subjectOf } from "../../src/standalone/mail-subject.ts";

export type MailPart = {
  readonly type: string;
  readonly header: string;
  readonly content: Buffer;
};

/** A mail as its reader has it: decoded, its parts in their order. */
export type ReadMail = { readonly subject: string; readonly parts: readonly MailPart[] };

export const readMail = (raw: Buffer): ReadMail => ({
  subject: subjectOf(raw),
  parts: partsOf(raw.toString("latin1")),
});

export const textIn = ({ parts }: ReadMail, type: string): string | undefined =>
  parts
    .find((part) => part.type === type)
    ?.content.toString()
    .replaceAll("\r\n", "\n")
    .trim();

function partsOf(source: string): readonly MailPart[] {
  const end = source.indexOf("\r\n\r\n");
  const header = source.slice(0, end).replace(/\r\n[ \t]+/g, " ");
  const body = source.slice(end + 4);
  const boundary = /boundary="?([^";\r\n]+)/i.exec(header)?.[1];
  if (boundary !== undefined) {
    const inner = body.split(`--${boundary}`).slice(1, -1);
    return inner.flatMap((part) => partsOf(part.replace(/^\r\n|\r\n$/g, "")));
  }
  const type = /^content-type: *([^;\r\n]+)/im.exec(header)?.[1] ?? "text/plain";
  return [{ type, header, content: decoded(body, /^content-transfer-encoding: *(\S+)/im.exec(header)?.[1]) }];
}

function decoded(body: string, encoding: string | undefined): Buffer {
  if (encoding === "base64") return Buffer.from(body, "base64");
  if (encoding !== "quoted-printable") return Buffer.from(body, "latin1");
  const joined = body.replace(/=\r\n/g, "");
  return Buffer.from(
    joined.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
}
