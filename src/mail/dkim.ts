import type { KeyObject } from "node:crypto";
import { once } from "node:events";
import RelaxedBody from "nodemailer/lib/dkim/relaxed-body.js";
import signHeader from "nodemailer/lib/dkim/sign.js";

/** One field of a header. Its line is folded as on the wire, with one character for each byte. */
export type HeaderField = {
  /** In lower case. */
  readonly key: string;
  readonly line: string;
};

/** The fields of a whole header, in order. A line that begins with white space continues the one before it. */
export const readHeaderFields = (header: Buffer): HeaderField[] =>
  header
    .toString("latin1")
    .trimEnd()
    .split(/\r\n(?![ \t])/)
    .map((line) => ({ key: line.slice(0, line.indexOf(":")).toLowerCase(), line }));

/** The UTF-8 bytes of a text, as one character for each byte. */
export const toBytesAsText = (text: string): string => Buffer.from(text).toString("latin1");

export type DkimSettings = {
  /** The domain that signs, `d=`. */
  readonly domain: string;
  /** Its public key is published at `<selector>._domainkey.<domain>`. */
  readonly selector: string;
  /** An RSA key, read once: a PEM text would be parsed again for every mail. */
  readonly privateKey: KeyObject;
};

/** The fields that RFC 6376 5.4.1 recommends and RFC 8058 4 requires for one-click unsubscribing. Signed if present. */
export const signedFields = [
  "From:Sender:Reply-To:Subject:Date:Message-ID:To:Cc:MIME-Version:Content-Type:Content-Transfer-Encoding",
  "Content-ID:Content-Description:In-Reply-To:References:List-Id:List-Help:List-Unsubscribe:List-Unsubscribe-Post",
  "List-Subscribe:List-Post:List-Owner:List-Archive",
].join(":");

/** Writes the DKIM-Signature of a mail with this header, including its line end. */
export type Signer = (fields: readonly HeaderField[]) => string;

/** For mails with this body, which is hashed once. */
export async function createSigner(
  body: readonly Buffer[],
  { domain, selector, privateKey }: DkimSettings,
): Promise<Signer> {
  const bodyHash = await hashOf(body);
  return (fields) => {
    const signature = signHeader([...fields], "sha256", bodyHash, {
      domainName: domain,
      keySelector: selector,
      privateKey,
      headerFieldNames: signedFields,
    });
    if (signature === false) throw new Error("The mail could not be signed with the key of DKIM_KEY");
    return `${signature}\r\n`;
  };
}

/** The hash of the body in nodemailer's canonical form, the `c=relaxed/relaxed` of its signatures. */
async function hashOf(body: readonly Buffer[]): Promise<string> {
  const hasher = new RelaxedBody();
  const hashed = once(hasher, "hash");
  hasher.resume();
  for (const bytes of body) hasher.write(bytes);
  hasher.end();
  const [hash]: string[] = await hashed;
  if (hash === undefined) throw new Error("nodemailer hashed the body of a mail without telling its hash");
  return hash;
}
