import { createHash, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import RelaxedBody from "nodemailer/lib/dkim/relaxed-body.js";
import signHeader from "nodemailer/lib/dkim/sign.js";
import { foldLines } from "nodemailer/lib/mime-funcs";

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

export type DkimKey = {
  /** The domain that signs, `d=`, in lower case. */
  readonly domain: string;
  /** Its public key is published at `<selector>._domainkey.<domain>`. */
  readonly selector: string;
  /** An RSA or Ed25519 key, read once: a PEM text would be parsed again for every mail. */
  readonly privateKey: KeyObject;
  /** The key signs from this instant on; null if it always did. */
  readonly from: Date | null;
};

export type DkimSettings = {
  /** The keys of all domains. */
  readonly keys: readonly DkimKey[];
  /** Signs the mails of senders that no key of their own is in force for; null leaves them unsigned. */
  readonly fallback: DkimKey | null;
};

/** The fields that RFC 6376 5.4.1 recommends, and RFC 8058 4 and RFC 9477 3.1.2 require. Signed if present. */
export const signedFields = [
  "From:Sender:Reply-To:Subject:Date:Message-ID:To:Cc:MIME-Version:Content-Type:Content-Transfer-Encoding",
  "Content-ID:Content-Description:In-Reply-To:References:List-Id:List-Help:List-Unsubscribe:List-Unsubscribe-Post",
  "List-Subscribe:List-Post:List-Owner:List-Archive:CFBL-Address",
].join(":");

/** Writes a DKIM-Signature by each of these keys for a mail with this header, each including its line end. */
export type Signer = (fields: readonly HeaderField[], keys: readonly DkimKey[]) => string;

/** For mails with this body, which is hashed once. */
export async function createSigner(body: readonly Buffer[]): Promise<Signer> {
  const bodyHash = await hashOf(body);
  return (fields, keys) => keys.map((key) => `${signWith(key, fields, bodyHash)}\r\n`).join("");
}

function signWith(key: DkimKey, fields: readonly HeaderField[], bodyHash: string): string {
  const { domain, selector, privateKey } = key;
  if (privateKey.asymmetricKeyType === "ed25519") return signWithEd25519(key, fields, bodyHash);
  const signature = signHeader([...fields], "sha256", bodyHash, {
    domainName: domain,
    keySelector: selector,
    privateKey,
    headerFieldNames: signedFields,
  });
  if (signature === false) throw new Error(`The mail could not be signed with the DKIM key ${selector} of ${domain}`);
  return signature;
}

/** RFC 8463 3: the SHA-256 of the canonical header is signed, not the header. nodemailer signs with RSA only. */
function signWithEd25519(
  { domain, selector, privateKey }: DkimKey,
  fields: readonly HeaderField[],
  bodyHash: string,
): string {
  const { headers, fieldNames } = signHeader.relaxedHeaders([...fields], signedFields);
  const tags = `v=1; a=ed25519-sha256; c=relaxed/relaxed; d=${domain}; q=dns/txt; s=${selector}; bh=${bodyHash}; h=${fieldNames}`;
  const unsigned = `${foldLines(`DKIM-Signature: ${tags}`, 76)};\r\n b=`;
  const own = signHeader.relaxedHeaders([{ key: "dkim-signature", line: unsigned }], "dkim-signature").headers;
  const hash = createHash("sha256").update(headers + own.trimEnd(), "latin1");
  const signature = sign(null, hash.digest(), privateKey).toString("base64");
  return `${unsigned}${signature.slice(0, 72)}\r\n ${signature.slice(72)}`;
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
