import { type Static, Type } from "typebox";
import { isSenderAllowed } from "../../access/caller-limits.ts";
import type { AttachmentFile } from "../../content/content-store.ts";
import { digestOf } from "../../content/encode-content.ts";
import { addressOf, nameOf } from "../../domain/recipients/address.ts";
import { maxNameLength } from "../../domain/recipients/display-name.ts";
import { headersOfIds, longestValue } from "../../mail/letter-form.ts";
import { address } from "../../schemas/email-address.ts";
import { type Checked, type Fault, failed, faultAt, passed, shown } from "../../schemas/fault.ts";
import { closed, singleLine } from "../../schemas/request-schema.ts";
import { variables } from "../../schemas/variables.ts";

const maxAttachments = 10;

const attachment = Type.Object(
  {
    filename: Type.String({
      minLength: 1,
      maxLength: 200,
      format: "file-name",
      description: "a file name of 1 to 200 characters, without a path and without control characters",
    }),
    contentType: Type.String({
      maxLength: 100,
      format: "media-type",
      description: "a media type such as application/pdf, none of multipart/* and message/*",
    }),
    content: Type.String({ format: "base64", description: "the bytes of the file in base64" }),
    contentId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        format: "content-id",
        description: '1 to 100 characters of an address or a word, as in <img src="cid:…">',
      }),
    ),
  },
  closed,
);

const mailbox = Type.String({ format: "mailbox", description: "an address, or a name and an address in <…>" });
const part = Type.String({ minLength: 1, description: "a non-empty string" });

/** What a mail program shows in place of the address. */
const displayName = Type.String({
  maxLength: maxNameLength,
  pattern: singleLine,
  description: "a name of at most 200 characters, without control characters",
});

/** The fields that only a request for a mailing has. */
export const mailFields = {
  subject: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: singleLine,
    description: "1 to 200 characters after trimming, without control characters",
  }),
  body: Type.Optional(part),
  html: Type.Optional(part),
  text: Type.Optional(part),
  from: Type.Optional(mailbox),
  replyTo: Type.Optional(mailbox),
  headers: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: "object",
      maxProperties: 20,
      propertyNames: { type: "string", format: "mail-header", description: "a mail header the service does not set" },
      additionalProperties: Type.String({
        maxLength: longestValue,
        pattern: singleLine,
        description: `at most ${longestValue} characters, without control characters`,
      }),
      description: "at most 20 mail headers, each a name and a string",
    }),
  ),
  attachments: Type.Optional(
    Type.Array(attachment, {
      maxItems: maxAttachments,
      description: `an array of at most ${maxAttachments} attachments`,
    }),
  ),
  unsubscribe: Type.Optional(Type.Boolean({ description: "true or false" })),
  /** Its mails go by this mail route and no other. */
  route: Type.Optional(Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,31}$", description: "the name of a mail route" })),
  /** How long deferred recipients are tried again. */
  deferFor: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 604_800, description: "seconds, a whole number from 0 to 604800" }),
  ),
};

/** The recipients of a mailing. */
export const mailRecipient = {
  key: "email",
  text: Type.String({ format: "mailbox", description: "an e-mail address such as ada@example.com" }),
  object: Type.Object(
    { email: address, name: Type.Optional(displayName), variables: Type.Optional(variables) },
    closed,
  ),
  expected: "an address, or an object with one as email",
  ofText: (text: string) => {
    const name = nameOf(text);
    return { email: addressOf(text), ...(name === null ? {} : { name }) };
  },
} as const;

/** `body` is the one part that `html` and `text` leave: beside both of them it has no place. */
export function faultsOfWords(words: Readonly<Record<string, unknown>>): readonly Fault[] {
  const { body, html, text } = words as { readonly body?: unknown; readonly html?: unknown; readonly text?: unknown };
  const isMissing = body === undefined && html === undefined && text === undefined;
  if (isMissing) return [faultAt("/body", "is missing; expected a non-empty string")];
  const isTooMuch = body !== undefined && html !== undefined && text !== undefined;
  return isTooMuch ? [faultAt("/text", "is given beside html and body; expected at most two of the three")] : [];
}

/**
 * Checks that the tenant may send with the sender that the request names; a request without a sender uses the service's.
 * `senders` is null where any sender may be named.
 */
export function checkSender(from: string | undefined, senders: readonly string[] | null): Checked<null> {
  if (from === undefined || senders === null || isSenderAllowed(addressOf(from), senders)) return passed(null);
  const message = `from is ${shown(from)}; expected one of this tenant's senders: ${senders.join(", ")}`;
  return failed([{ pointer: "/from", message }]);
}

/** Checks that the mails can go by the route that the request asks for. */
export function checkRoute(route: string | undefined, usable: () => readonly string[]): Checked<null> {
  if (route === undefined) return passed(null);
  const names = usable();
  if (names.includes(route)) return passed(null);
  const expected = `expected a mail route for this tenant and this sender: ${names.join(", ") || "there is none"}`;
  return failed([{ pointer: "/route", message: `route is ${shown(route)}; ${expected}` }]);
}

type Headers = { readonly headers?: Readonly<Record<string, string>> };

/** Each with or without its brackets, and so short that it fits on a line of 998 bytes (RFC 5322 2.1.1). */
const messageIds = /^ *(?:(?:<[!-;=?-~]{1,900}>|[!-;=?-~]{1,900})(?: +|$))+$/;

/** Checks the ids of other mails, which go out as they are: an id can neither be encoded (RFC 2047 5) nor folded. */
export function checkHeaders({ headers = {} }: Headers): Checked<null> {
  const expected = "expected message ids in ASCII, such as <17@example.com>, with spaces between them";
  const faults = Object.entries(headers)
    .filter(([name, value]) => headersOfIds.includes(name.toLowerCase()) && !messageIds.test(value))
    .map(([name, value]) => faultAt(`/headers/${name}`, `is ${shown(value)}; ${expected}`));
  return faults.length === 0 ? passed(null) : failed(faults);
}

type Links = Headers & { readonly unsubscribe?: boolean };

const headersOfLinks: readonly string[] = ["list-unsubscribe", "list-unsubscribe-post"];

/** Checks that a mail can have its own link to unsubscribe, where the request asks for such links. */
export function checkUnsubscribe({ unsubscribe, headers = {} }: Links, publicUrl: string | null): Checked<null> {
  if (!unsubscribe) return passed(null);
  const faults: Fault[] = Object.keys(headers)
    .filter((name) => headersOfLinks.includes(name.toLowerCase()))
    .map((name) => faultAt(`/headers/${name}`, "is given beside unsubscribe; expected one of them"));
  if (publicUrl === null) {
    const setting = "expected the setting PUBLIC_URL, the address at which people reach this service";
    faults.push(faultAt("/unsubscribe", `is true, but the links have no address; ${setting}`));
  }
  return faults.length === 0 ? passed(null) : failed(faults);
}

/** The HTML elements that mails consist of. */
const elements =
  "a|abbr|b|big|blockquote|body|br|center|code|dd|div|dl|dt|em|font|footer|h[1-6]|head|header|hr|html|i|img|li|link|" +
  "main|meta|ol|p|pre|s|section|small|span|strike|strong|style|sub|sup|table|tbody|td|tfoot|th|thead|title|tr|tt|u|ul";

const tag = new RegExp(`<(?:!doctype\\s+html|/?(?:${elements})(?=[\\s/>]))`, "i");

type Parts = { readonly html: string | null; readonly text: string | null };

/**
 * Decides which part of a mail `body` is. With `text` given it is the HTML, with `html` given the plain text. Alone it is
 * HTML if there is a doctype or the tag of an element in it: `<p>` makes it HTML, `a < b` and `<ada@example.com>` do not.
 */
export function splitBody(mail: { readonly body?: string; readonly html?: string; readonly text?: string }): Parts {
  if (mail.body === undefined) return { html: mail.html ?? null, text: mail.text ?? null };
  if (mail.text !== undefined) return { html: mail.body, text: mail.text };
  if (mail.html !== undefined) return { html: mail.html, text: mail.body };
  return tag.test(mail.body) ? { html: mail.body, text: null } : { html: null, text: mail.body };
}

export const attachmentsOf = (attachments: readonly Static<typeof attachment>[]): readonly AttachmentFile[] =>
  attachments.map(({ filename, contentType, contentId = null, content }) => {
    const bytes = Buffer.from(content, "base64");
    return { filename, contentType, contentId, size: bytes.length, sha256: digestOf(bytes), bytes };
  });
