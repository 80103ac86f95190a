import { hkdfSync, type KeyObject, timingSafeEqual } from "node:crypto";

type JobId = { readonly jobId: string };

/** The mail that a token names. The tenant is not in it: a return path has no room for one. */
export type NamedMail = JobId & { readonly recipient: number };

/**
 * Tokens of mails, for ever the same for the same mail: in the return path and the Message-ID, so that whatever comes back
 * names the mail it is about. A token holds no address, and only this service can make one. It is written in letters and
 * digits whose case does not matter, because some mail servers change it.
 */
export type MailTokens = {
  /** The tokens of a job's mails, cheapest in the order of its recipients. Null for a job whose id is no UUID. */
  readonly of: (job: JobId) => ((recipient: number) => string) | null;
  /** The mail whose token stands anywhere in the text: an address, a Message-ID. Null for a text without one of ours. */
  readonly find: (text: string) => NamedMail | null;
};

/** In hex digits: the id of the job without its hyphens, the number of the recipient, the signature. */
const idDigits = 32;
const recipientDigits = 4;
const claimDigits = idDigits + recipientDigits;
const signatureBytes = 10;
const signatureDigits = 2 * signatureBytes;
const digits = claimDigits + signatureDigits;
const tokenLength = Math.ceil((digits * 4) / 5);
/** More characters than this in a row are no token, nor looked through for one. */
const longestText = 1000;

const anyToken = new RegExp(`(?<![a-z0-9])[0-9a-v]{${tokenLength}}(?![a-z0-9])`, "gi");
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

export function createMailTokens(key: KeyObject): MailTokens {
  const tokensOf = (id: string) => {
    let [block, signatures] = [-1, ""];
    return (recipient: number): string => {
      const wanted = Math.floor(recipient / signedAtOnce);
      if (wanted !== block) [block, signatures] = [wanted, sign(id, wanted, key)];
      const at = (recipient % signedAtOnce) * signatureDigits;
      const signature = signatures.slice(at, at + signatureDigits);
      return writeToken(id + toHex(recipient, recipientDigits) + signature);
    };
  };
  const read = (token: string): NamedMail | null => {
    const hex = readToken(token);
    if (hex.length > digits) return null;
    const [id, recipient] = [hex.slice(0, idDigits), Number.parseInt(hex.slice(idDigits, claimDigits), 16)];
    const isOurs = timingSafeEqual(Buffer.from(token), Buffer.from(tokensOf(id)(recipient)));
    return isOurs ? { jobId: toUuid(id), recipient } : null;
  };
  return {
    of: ({ jobId }) => (uuid.test(jobId) ? tokensOf(jobId.replaceAll("-", "")) : null),
    find: (text) => {
      for (const [found] of text.slice(0, longestText).matchAll(anyToken)) {
        const named = read(found.toLowerCase());
        if (named !== null) return named;
      }
      return null;
    },
  };
}

/** One derivation signs so many recipients in a row: a worker that made an HMAC for each mail spent 6 % of its time on it. */
const signedAtOnce = 64;

/** By HMAC, extended to the length of all signatures (HKDF, RFC 5869). In hex. */
function sign(id: string, block: number, key: KeyObject): string {
  const claim = Buffer.from(id + toHex(block, recipientDigits), "hex");
  return Buffer.from(hkdfSync("sha256", key, "", claim, signedAtOnce * signatureBytes)).toString("hex");
}

const toHex = (number: number, length: number): string => number.toString(16).padStart(length, "0");

const toUuid = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");

/** To the base 32, with the digits of RFC 4648 7. */
const writeToken = (hex: string): string => BigInt(`0x${hex}`).toString(32).padStart(tokenLength, "0");

/** Characters whose value is an exact number. */
const charactersAtOnce = 9;

function readToken(token: string): string {
  let value = 0n;
  for (let at = 0; at < token.length; at += charactersAtOnce) {
    const next = Number.parseInt(token.slice(at, at + charactersAtOnce), 32);
    value = (value << BigInt(5 * charactersAtOnce)) + BigInt(next);
  }
  return value.toString(16).padStart(digits, "0");
}

/** What the sending of mails needs of the tokens. */
export type ReturnPaths = {
  /** Of a job's mails. Null as for the tokens. */
  readonly of: (job: JobId) => ReturnPathOf | null;
  /** The address for complaints about the mails of a sender; null where its domain has none. */
  readonly complaintsOf: (sender: string) => string | null;
};

/** The token of a mail, and the sender of its envelope, to which a bounce goes: `bounces+<token>@b.example.org`. */
export type ReturnPathOf = (recipient: number) => { readonly token: string; readonly address: string };

/** `base` is the address of MAIL_RETURN_PATH, `complaints` are those of FEEDBACK_ADDRESSES. */
export function createReturnPaths(
  tokens: Pick<MailTokens, "of">,
  base: string,
  complaints: readonly string[],
): ReturnPaths {
  const at = base.lastIndexOf("@");
  const [local, domain] = [base.slice(0, at), base.slice(at)];
  return {
    of: (job) => {
      const tokenOf = tokens.of(job);
      if (tokenOf === null) return null;
      return (recipient) => {
        const token = tokenOf(recipient);
        return { token, address: `${local}+${token}${domain}` };
      };
    },
    complaintsOf: (sender) => addressAlignedWith(domainOf(sender), complaints),
  };
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1).toLowerCase();

/** The address in the domain of the sender, or in the nearest domain above it: RFC 9477 3.1 wants them to be aligned. */
function addressAlignedWith(sender: string, addresses: readonly string[]): string | null {
  const aligned = addresses.filter((address) => {
    const domain = domainOf(address);
    return sender === domain || sender.endsWith(`.${domain}`);
  });
  return aligned.reduce<string | null>(
    (nearest, address) => (nearest && domainOf(nearest).length >= domainOf(address).length ? nearest : address),
    null,
  );
}

/** Whether mail to this address is to be taken: the return path itself, or that of any mail. */
export function isReturnPath(address: string, base: string): boolean {
  const [given, own] = [address.toLowerCase(), base.toLowerCase()];
  const at = own.lastIndexOf("@");
  return given === own || (given.startsWith(`${own.slice(0, at)}+`) && given.endsWith(own.slice(at)));
}

/** RFC 5321 4.5.3.1.1: the local part of an address has no more characters. */
const longestLocalPart = 64;

/** How long the local part of MAIL_RETURN_PATH may be, so that a token fits behind it. */
export const longestReturnLocalPart = longestLocalPart - tokenLength - 1;
