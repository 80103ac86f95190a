import type MimeNode from "nodemailer/lib/mime-node";
import { addressOf } from "../domain/recipients/address.ts";
import type { ComposedBody } from "./compose-body.ts";
import { createSigner, type DkimSettings, type HeaderField, type Signer } from "./dkim.ts";
import { keysOfSender } from "./dkim-keys.ts";
import { createLetterForms, headerField, type LetterForm, toAddress } from "./letter-form.ts";
import { toMailData } from "./mail-data.ts";
import type { Letter, Mail, PersonalParts } from "./mailer.ts";
import { tokenValue } from "./token-header.ts";

export type Envelope = {
  readonly from: string;
  readonly to: string;
  /** The header has an address beyond ASCII, whether or not the envelope has one. */
  readonly hasUtf8Header?: boolean;
};

/** A letter that nodemailer composed once; the parts that differ are written anew for each mail. */
export type ComposedLetter = {
  readonly envelopeOf: (mail: Pick<Mail, "to" | "returnPath">) => Envelope;
  /** The whole message in chunks, ready for DATA but for the final dot: the dots that begin lines are doubled. */
  readonly messageOf: (mail: Mail, date: Date) => Promise<readonly Buffer[]>;
};

/** In a line with one character for each byte. */
const beyondAscii = /[\x80-\xff]/;

type SignedBody = ComposedBody & { readonly sign: Signer | null };

/** Composes letters with one another's forms. The fields of `unsigned`, in lower case, are left out of signatures. */
export function createComposer(
  dkim: DkimSettings | null,
  unsigned: readonly string[] = [],
): (letter: Letter) => Promise<ComposedLetter> {
  const makeForm = createLetterForms();
  const signing = { dkim, isSigned: ({ key }: HeaderField): boolean => !unsigned.includes(key) };
  return (letter) =>
    composeLetter(hasOwnTokenHeader(letter) ? { ...letter, tokenHeader: null } : letter, signing, makeForm);
}

type Signing = { readonly dkim: DkimSettings | null; readonly isSigned: (field: HeaderField) => boolean };

/** What the request says stands: a provider reads the first header of a name alone. */
const hasOwnTokenHeader = ({ headers, tokenHeader }: Letter): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === tokenHeader?.toLowerCase());

async function composeLetter(
  letter: Letter,
  { dkim, isSigned }: Signing,
  makeForm: (letter: Letter) => LetterForm,
): Promise<ComposedLetter> {
  const forms = new Map<string, LetterForm>();
  const formOf = ({ html, text }: PersonalParts): LetterForm => {
    const key = `${Boolean(html)} ${Boolean(text)}`;
    const form = forms.get(key) ?? makeForm({ ...letter, html, text });
    forms.set(key, form);
    return form;
  };
  const { node, fields } = formOf(letter);
  // Of all other text nodemailer makes encoded words.
  const hasUtf8Header = fields.some(({ line }) => beyondAscii.test(line));
  const from = node.setEnvelope({ from: addressOf(letter.from) }).getEnvelope().from || "";
  const keysAt = dkim === null ? null : keysOfSender(dkim, from);
  const dataOf = createDataWriter();
  const finish = async (parts: PersonalParts): Promise<SignedBody> => {
    const { chunks, transferEncoding } = await formOf(parts).writeBody(parts);
    const sign = keysAt === null ? null : await createSigner(chunks);
    return { chunks: chunks.map(dataOf), transferEncoding, sign };
  };
  let sharedBody: Promise<SignedBody> | null = null;
  const bodyOfAll = (): Promise<SignedBody> => {
    sharedBody ??= finish(letter);
    return sharedBody;
  };

  return {
    envelopeOf: ({ to, returnPath }) => ({
      from: returnPath ?? from,
      to: writePlainAddress(to) ?? envelopeAddress(node, to),
      hasUtf8Header,
    }),
    messageOf: async (mail, date) => {
      const { personal } = mail;
      if (letter.isUnsubscribable && !mail.unsubscribeUrl) throw new Error("A mail has no link to unsubscribe by.");
      const form = formOf(personal ?? letter);
      const { chunks, transferEncoding, sign } = await (personal ? finish(personal) : bodyOfAll());
      const own = fieldsOfMail(form.node, mail, date, transferEncoding);
      if (letter.tokenHeader) own.set(...tokenField(letter.tokenHeader, mail));
      const fields = form.fields.map((field) => own.get(field.key) ?? field);
      const header = fields.map(({ line }) => `${line}\r\n`).join("");
      const signatures = sign?.(fields.filter(isSigned), keysAt?.(date) ?? []) ?? "";
      const data = toMailData(`${signatures}${header}\r\n`);
      return [Buffer.from(data, "latin1"), ...chunks];
    },
  };
}

/** Chunks that mails share are looked through once. Each of them begins at the beginning of a line. */
function createDataWriter(): (chunk: Buffer) => Buffer {
  const written = new WeakMap<Buffer, Buffer>();
  const write = (chunk: Buffer): Buffer => {
    const text = chunk.toString("latin1");
    const data = toMailData(text);
    return data === text ? chunk : Buffer.from(data, "latin1");
  };
  return (chunk) => {
    const data = written.get(chunk) ?? write(chunk);
    written.set(chunk, data);
    return data;
  };
}

const envelopeAddress = (node: MimeNode, recipient: string): string =>
  node.setEnvelope({ to: toAddress(recipient) }).getEnvelope().to[0] ?? "";

const plainId = /^<[\x21-\x7e]+>$/;

function fieldsOfMail(
  node: MimeNode,
  { to, name, messageId, personal, unsubscribeUrl }: Mail,
  date: Date,
  transferEncoding: string | null,
): Map<string, HeaderField> {
  const own = (name: string, value: string): [string, HeaderField] => {
    const field = headerField(name, value);
    return [field.key, field];
  };
  const fields = [
    own("To", writePlainRecipient(to, name) ?? node.encodeHeaderValue("To", toAddress(to, name ?? ""))),
    own("Message-ID", plainId.test(messageId) ? messageId : node.encodeHeaderValue("Message-ID", messageId)),
    own("Date", node.encodeHeaderValue("Date", date)),
  ];
  if (personal) fields.push(own("Subject", node.encodeHeaderValue("Subject", personal.subject)));
  if (unsubscribeUrl) {
    const key = "list-unsubscribe";
    fields.push([key, { key, line: `List-Unsubscribe: <${unsubscribeUrl}>` }]);
  }
  if (transferEncoding !== null) fields.push(own("Content-Transfer-Encoding", transferEncoding));
  return new Map(fields);
}

/** The token is what stands before the @ of the Message-ID. */
function tokenField(name: string, { messageId }: Mail): [string, HeaderField] {
  const key = name.toLowerCase();
  return [key, { key, line: `${name}: ${tokenValue(name, messageId.slice(1, messageId.indexOf("@")))}` }];
}

/**
 * Domain labels of letters, digits and hyphens, the last one of letters. Labels with hyphens in third and fourth place
 * are excluded: such a label is an encoding, and must be checked as one.
 */
const plain =
  /^[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*@(?:(?!..--)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$/;
const longest = 254;

const plainName = /^\w+(?: \w+)*$/;
/** Without the characters that would have to be escaped, and those of an address. */
const quotedName = /^[!#-;=?A-[\]-~]+(?: [!#-;=?A-[\]-~]+)*$/;

/** An address, with the name of the recipient before it if there is one, as nodemailer writes it; null as for the address. */
export function writePlainRecipient(to: string, name: string | null | undefined): string | null {
  const address = writePlainAddress(to);
  if (!name || address === null) return address;
  if (plainName.test(name)) return `${name} <${address}>`;
  return quotedName.test(name) ? `"${name}" <${address}>` : null;
}

/**
 * An address as nodemailer writes it, without its checks for a dozen rare forms, which most addresses do not have. Null
 * for an address that may have one, which nodemailer has to write.
 */
export function writePlainAddress(address: string): string | null {
  if (address.length > longest || !plain.test(address)) return null;
  const at = address.indexOf("@");
  return address.slice(0, at) + address.slice(at).toLowerCase();
}
