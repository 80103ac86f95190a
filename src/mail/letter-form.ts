import { randomUUID } from "node:crypto";
import MailComposer from "nodemailer/lib/mail-composer";
import { foldLines } from "nodemailer/lib/mime-funcs";
import type MimeNode from "nodemailer/lib/mime-node";
import { type BodyWriter, createBodyWriter } from "./compose-body.ts";
import { type HeaderField, readHeaderFields, toBytesAsText } from "./dkim.ts";
import type { Letter } from "./mailer.ts";

/** What nodemailer built for a letter: its header, and the parts of its body. */
export type LetterForm = {
  readonly node: MimeNode;
  /** To, Message-ID, Date and links are placeholders for those of each mail. */
  readonly fields: readonly HeaderField[];
  readonly writeBody: BodyWriter;
};

const mostShared = 100;
/** As long as nodemailer's, for which the lines of the header are folded. */
const boundaryDigits = 16;

/**
 * Makes the form of each letter. Letters that differ in their words alone share what nodemailer built, because that takes
 * longer than to write a mail. Each has boundaries of its own all the same: a recipient who knows those of an earlier
 * letter could bring them into the words of a later one.
 */
export function createLetterForms(): (letter: Letter) => LetterForm {
  const shared = new Map<string, LetterForm>();

  const sharedBy = (letter: Letter): LetterForm => {
    const key = keyOf(letter);
    const known = shared.get(key);
    if (known !== undefined) return known;
    if (shared.size >= mostShared) shared.clear();
    const form = build(withoutWords(letter));
    shared.set(key, form);
    return form;
  };

  return (letter) => {
    if (!differsInWords(letter)) return build(letter);
    const { node, fields, writeBody } = sharedBy(letter);
    const own = randomUUID().replaceAll("-", "").slice(-boundaryDigits);
    const renamed = (text: string): string => text.replaceAll(node.baseBoundary, own);
    const fieldOf = (field: HeaderField): HeaderField => {
      if (field.key === "subject") return headerField("Subject", node.encodeHeaderValue("Subject", letter.subject));
      return field.key === "content-type" ? { ...field, line: renamed(field.line) } : field;
    };
    return { node, fields: fields.map(fieldOf), writeBody: (texts) => writeBody(texts, renamed) };
  };
}

/** Whether the form of a letter is worth keeping: the next letter seldom has the same headers or attachments of its own. */
const differsInWords = ({ subject, headers, attachments = [] }: Letter): boolean =>
  attachments.length === 0 && Object.keys(headers).length === 0 && subject.trim() !== "";

const keyOf = ({ from, replyTo, html, text, isUnsubscribable, tokenHeader }: Letter): string =>
  JSON.stringify([from, replyTo, Boolean(html), Boolean(text), isUnsubscribable, tokenHeader]);

/** With placeholders: the words of a letter are not kept. */
const withoutWords = (letter: Letter): Letter => ({
  ...letter,
  subject: "Subject",
  html: letter.html && "HTML",
  text: letter.text && "Text",
});

function build(letter: Letter): LetterForm {
  const node = new MailComposer(toComposerOptions(letter)).compile();
  const fields = readHeaderFields(Buffer.from(node.buildHeaders())).map(({ key, line }) => ({
    key,
    line: withoutBlankLines(line),
  }));
  return { node, fields, writeBody: createBodyWriter(node) };
}

/** A line that needs neither folding nor encoding. */
const shortLine = /^[\x20-\x7e]{1,76}$/;

/** A field of a header, folded as nodemailer folds it. */
export function headerField(name: string, value: string): HeaderField {
  const field = `${name}: ${value}`;
  const line = shortLine.test(field) ? field : withoutBlankLines(toBytesAsText(foldLines(field, 76)));
  return { key: name.toLowerCase(), line };
}

/** No line of a header may be white space alone (RFC 5322 3.2.2): some take it for the end of all. It joins the line before. */
const withoutBlankLines = (line: string): string => line.replace(/\r\n(?=[ \t]+(?:\r\n|$))/g, "");

const toComposerOptions = (letter: Letter) =>
  toOptions(letter, [...(letter.isUnsubscribable ? oneClick : []), ...tokenOf(letter)]);

/** A placeholder for the token of each mail. */
const tokenOf = ({ tokenHeader }: Letter): typeof oneClick =>
  tokenHeader ? [{ key: tokenHeader, value: { prepared: true, value: "token" } }] : [];

/** Marked as prepared, so that they are not folded: some mail clients do not recognise a folded link. */
const oneClick = [
  { key: "List-Unsubscribe", value: { prepared: true, value: "<https://example.org/>" } },
  { key: "List-Unsubscribe-Post", value: { prepared: true, value: "List-Unsubscribe=One-Click" } },
];

const toOptions = (
  { from, replyTo, subject, html, text, headers, attachments = [] }: Letter,
  ownHeaders: typeof oneClick,
) => ({
  from,
  // Placeholders for the values of each mail.
  to: toAddress("recipient@example.org"),
  messageId: "<letter@example.org>",
  subject,
  // As a list, because nodemailer reads an object with `key` and `value` as one header of that name.
  headers: [...Object.entries(headers).map(toHeader), ...ownHeaders],
  attachments: attachments.map(({ filename, contentType, contentId, bytes }) => ({
    filename,
    contentType,
    content: bytes,
    ...(contentId === null ? {} : { cid: contentId }),
  })),
  disableFileAccess: true,
  disableUrlAccess: true,
  ...(replyTo === null ? {} : { replyTo }),
  ...(html === null ? {} : { html }),
  ...(text === null ? {} : { text }),
});

/**
 * RFC 5322 2.1.1: a line has at most 998 characters. A value without a space gets one of its own, behind the space that
 * makes it part of its header.
 */
export const longestValue = 997;

/** Headers of message ids, which are put into brackets where the request has none, and never encoded. */
export const headersOfIds: readonly string[] = ["in-reply-to", "references"];

const printable = /^[\x20-\x7e]*$/;

/** RFC 5322 3.6.4. nodemailer takes all the ids of In-Reply-To for one. */
const inBrackets = (ids: string): string =>
  ids
    .trim()
    .split(/ +/)
    .map((id) => (id.startsWith("<") ? id : `<${id}>`))
    .join(" ");

/**
 * Printable ASCII goes out as it is, and is only folded. nodemailer would encode a value with a quote, which a header that
 * is read by a grammar, such as List-Id, must not be (RFC 2047 5, RFC 2919 2).
 */
const toHeader = ([key, text]: readonly [string, string]) => {
  if (!printable.test(text)) return { key, value: text };
  if (headersOfIds.includes(key.toLowerCase())) return { key, value: inBrackets(text) };
  return { key, value: { prepared: true, foldLines: true, value: text } };
};

/** As an object, because a string could be read as several addresses. */
export const toAddress = (address: string, name = "") => ({ name, address });
