import { hkdfSync, type KeyObject, timingSafeEqual } from "node:crypto";
import { domainToASCII } from "node:url";
import { domainOf } from "./domain-of.ts";

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

/** In bits: the id of the job, the number of the recipient, the signature. A digit of the base 32 holds five. */
const idBits = 128;
const recipientBits = 16;
const signatureBytes = 10;
const claimLength = Math.ceil((idBits + recipientBits) / 5);
const signatureLength = (signatureBytes * 8) / 5;
const tokenLength = claimLength + signatureLength;
/** More characters than this in a row are no token, nor looked through for one. */
const longestText = 1000;

const anyToken = new RegExp(`(?<![a-z0-9])[0-9a-v]{${tokenLength}}(?![a-z0-9])`, "gi");
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

export function createMailTokens(key: KeyObject): MailTokens {
  const tokensOf = (id: string) => {
    const number = BigInt(`0x${id}`);
    const start = writeNumber(number >> bitsBesideRecipient, claimLength - digitsWithRecipient);
    const rest = Number(number & (2n ** bitsBesideRecipient - 1n)) << recipientBits;
    let [block, signatures] = [-1, ""];
    return (recipient: number): string => {
      const [wanted, place] = [Math.floor(recipient / signedAtOnce), recipient % signedAtOnce];
      const end = (place + 1) * signatureLength;
      if (wanted !== block || signatures.length < end) {
        // Many jobs have one mail, and a token that is looked at is one of many.
        signatures = sign(id, wanted, block === -1 ? place + 1 : signedAtOnce, key);
        block = wanted;
      }
      return start + writeNumber(rest | recipient, digitsWithRecipient) + signatures.slice(end - signatureLength, end);
    };
  };
  const read = (token: string): NamedMail | null => {
    const { id, recipient } = readClaim(token);
    if (id.length > idBits / 4) return null;
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

/** The digits that hold the recipient hold so many bits of the id, too. */
const digitsWithRecipient = 4;
const bitsBesideRecipient = BigInt(digitsWithRecipient * 5 - recipientBits);

/** One derivation signs so many recipients in a row: at 64 it took 3 % of a worker's time, and an HMAC for each mail 6 %. */
const signedAtOnce = 256;

/** The signatures of the first recipients of a block: an HMAC, extended to the length of all of them (HKDF, RFC 5869). */
function sign(id: string, block: number, count: number, key: KeyObject): string {
  const claim = Buffer.from(id + toHex(block, recipientBits / 4), "hex");
  return writeBytes(Buffer.from(hkdfSync("sha256", key, "", claim, count * signatureBytes)));
}

const toHex = (number: number | bigint, length: number): string => number.toString(16).padStart(length, "0");

const toUuid = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");

/** The digits of RFC 4648 7. */
const digits = "0123456789abcdefghijklmnopqrstuv";

const writeNumber = (number: number | bigint, length: number): string => number.toString(32).padStart(length, "0");

/** Of a multiple of five bytes. */
function writeBytes(bytes: Buffer): string {
  const text = Buffer.alloc((bytes.length * 8) / 5);
  let [at, held, bits] = [0, 0, 0];
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; at += 1) {
      bits -= 5;
      text[at] = digits.charCodeAt((held >> bits) & 31);
    }
  }
  return text.toString("latin1");
}

/** The id in hex: longer than an id is where the digits before it are not zero. */
function readClaim(token: string): { readonly id: string; readonly recipient: number } {
  const claim = Array.from(token.slice(0, claimLength)).reduce(
    (value, digit) => value * 32n + BigInt(digits.indexOf(digit)),
    0n,
  );
  const recipient = Number(claim & (2n ** BigInt(recipientBits) - 1n));
  return { id: toHex(claim >> BigInt(recipientBits), idBits / 4), recipient };
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
  const path = withAsciiDomain(base);
  const at = path.lastIndexOf("@");
  const [local, domain] = [path.slice(0, at), path.slice(at)];
  const addresses = complaints.map(withAsciiDomain);
  return {
    of: (job) => {
      const tokenOf = tokens.of(job);
      if (tokenOf === null) return null;
      return (recipient) => {
        const token = tokenOf(recipient);
        return { token, address: `${local}+${token}${domain}` };
      };
    },
    complaintsOf: (sender) => addressAlignedWith(domainOf(sender), addresses),
  };
}

/** The form in which an address is sent: one with a Unicode domain needs SMTPUTF8, which many mail servers lack. */
function withAsciiDomain(address: string): string {
  const domain = address.lastIndexOf("@") + 1;
  return address.slice(0, domain) + domainToASCII(address.slice(domain));
}

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

/**
 * Whether mails to an address are taken: to a return path with a valid token, and to the addresses that reports without one
 * come to. `base` and `complaints` are as for the return paths.
 */
export function createIsOurs(tokens: Pick<MailTokens, "find">, base: string, complaints: readonly string[]) {
  const open = new Set([base, ...complaints].map(comparable));
  return (address: string): boolean =>
    open.has(comparable(address)) || (isReturnPath(address, base) && tokens.find(address) !== null);
}

/** The same text for the same address: smtp-server makes Unicode of a domain that came in ASCII, and a setting may be either. */
const comparable = (address: string): string => withAsciiDomain(address.toLowerCase());

/** Whether an address is the return path itself, or that of any mail. */
export function isReturnPath(address: string, base: string): boolean {
  const [given, own] = [comparable(address), comparable(base)];
  const at = own.lastIndexOf("@");
  return given === own || (given.startsWith(`${own.slice(0, at)}+`) && given.endsWith(own.slice(at)));
}

/** RFC 5321 4.5.3.1.1: the local part of an address has no more characters. */
const longestLocalPart = 64;

/** How long the local part of MAIL_RETURN_PATH may be, so that a token fits behind it. */
export const longestReturnLocalPart = longestLocalPart - tokenLength - 1;
