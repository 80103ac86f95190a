import { isIP } from "node:net";
import { hostname } from "node:os";
import { isLoopback } from "../domain/loopback.ts";
import { addressOf } from "../domain/recipients/address.ts";
import { domainOf } from "../mail/domain-of.ts";
import { longestReturnLocalPart } from "../mail/return-path.ts";
import { isEmailAddress, isMailbox } from "../schemas/email-address.ts";
import { domainName } from "./dkim-settings.ts";
import type { SettingReader } from "./setting-reader.ts";

export function readMailFrom(read: SettingReader): string {
  const given = read.text("MAIL_FROM", "Waybill <waybill@localhost>");
  if (!isMailbox(given)) read.fault("MAIL_FROM", given, "one address, as ada@example.com or Ada <ada@example.com>");
  return given;
}

/** Options behind the host, such as `?requireTLS=true` of nodemailer, would be left out without a word. */
export function readSmtpUrl(read: SettingReader): string | null {
  const expected = "smtp://user:password@host:port or smtps://…";
  const url = read.url("SMTP_URL", ["smtp:", "smtps:"], expected);
  if (url === null) return null;
  const { pathname, search, hash } = new URL(url);
  if (!["", "/"].includes(pathname) || search !== "" || hash !== "") {
    read.fault("SMTP_URL", url, `${expected}, without a path or options`);
  }
  return url;
}

/** How a connection to a mail server is used. */
export const readSmtp = (read: SettingReader) => ({
  /** For opening a connection, and for each step of a mail but the last. */
  timeoutMs: read.whole("SMTP_TIMEOUT", 20_000, 100, 3_600_000),
  /** For the answer to a whole mail (RFC 5321 4.5.3.2.6). */
  answerTimeoutMs: read.whole("SMTP_ANSWER_TIMEOUT", 600_000, 100, 3_600_000),
  /** What this host calls itself; null: by its name if that is a full one, else by 127.0.0.1. */
  name: readSmtpName(read),
});

/** A name without a dot, as hosts in containers have, says nothing to a mail server; some refuse an address in its place. */
function readSmtpName(read: SettingReader): string | null {
  const given = read.raw("SMTP_NAME");
  const isName = (name: string): boolean => domainName.test(name) && isIP(name) === 0;
  if (given !== null && !isName(given)) read.fault("SMTP_NAME", given, "the name of a host: mail.example.org");
  const domainOfSender = domainOf(addressOf(read.text("MAIL_FROM", "")));
  return given ?? [hostname(), domainOfSender].find((name) => name.includes(".") && isName(name)) ?? null;
}

export function readReturnPath(read: SettingReader): string | null {
  const given = read.raw("MAIL_RETURN_PATH");
  if (given === null) return null;
  const local = given.slice(0, given.lastIndexOf("@"));
  if (isEmailAddress(given) && local.length <= longestReturnLocalPart && !local.includes("+")) return given;
  const expected = `an address of its own, as bounces@b.example.org, with at most ${longestReturnLocalPart} characters before the @ and no +`;
  read.fault("MAIL_RETURN_PATH", given, expected);
  return null;
}

/** The addresses that receivers send complaints to: of each sender domain the one in it, or in a domain above it. */
export const readFeedbackAddresses = (read: SettingReader): readonly string[] =>
  read.list("FEEDBACK_ADDRESSES", {
    isItem: isEmailAddress,
    expected: "addresses with commas between, one for each sender domain: fbl@example.org,fbl@example.net",
  }) ?? [];

/** Where the role `bounces` takes the mails that come to return paths; a null port: nowhere. */
export function readBounces(read: SettingReader) {
  return {
    host: read.text("BOUNCES_HOST", "127.0.0.1"),
    port: read.optionalWhole("BOUNCES_PORT", 0, 65_535),
    isLmtp: read.flag("BOUNCES_LMTP", false),
  };
}

/** Groups of domains whose mail one provider takes, with the domain first that names it: `example.org+example.net`. */
export function readMailProviders(read: SettingReader): readonly (readonly string[])[] {
  const domainsOf = (item: string): readonly string[] => item.split("+").map((domain) => domain.trim().toLowerCase());
  const groups = read.list("MAIL_PROVIDERS", {
    isItem: (item) => domainsOf(item).every((domain) => domainName.test(domain)),
    expected: "groups of domains in ASCII with commas between: example.org+example.net,example.com+example.edu",
  });
  return (groups ?? []).map(domainsOf);
}

/** The URL is part of one header line of each mail, and mail servers refuse lines that are too long. */
const longestUrl = 200;

/** The URL at which recipients reach the API, without a slash at the end; null if it is not set. */
export function readPublicUrl(read: SettingReader): string | null {
  const value = read.raw("PUBLIC_URL");
  if (value === null) return null;
  if (isPublic(value)) return new URL(value).href.replace(/\/+$/, "");
  const expected = `https://… of at most ${longestUrl} characters (http on this machine only), without a query`;
  read.fault("PUBLIC_URL", value, expected);
  return null;
}

/** RFC 8058 requires https, because anyone who intercepts a link could use it. */
function isPublic(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { href, protocol, hostname, username, search, hash } = new URL(value);
  // Letters beyond ASCII take six characters each.
  if (href.length > longestUrl) return false;
  const isSafe = protocol === "https:" || (protocol === "http:" && isLoopback(hostname.replace(/^\[|\]$/g, "")));
  return isSafe && username === "" && search === "" && hash === "";
}
