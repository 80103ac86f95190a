import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { isLoopback } from "../access/auth-mode.ts";
import type { DkimSettings } from "../mail/dkim.ts";
import { isMailbox } from "../schemas/email-address.ts";
import type { SettingReader } from "./setting-reader.ts";

export function readMailFrom(read: SettingReader): string {
  const given = read.text("MAIL_FROM", "Waybill <waybill@localhost>");
  if (!isMailbox(given)) read.fault("MAIL_FROM", given, "one address, as ada@example.com or Ada <ada@example.com>");
  return given;
}

const dkimNames = ["DKIM_DOMAIN", "DKIM_SELECTOR", "DKIM_KEY"] as const;
const domainName = /^(?!-)[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*$/;
/** RFC 8301 3.2: a verifier must not accept a signature by a shorter key. */
const leastBits = 1024;

/** Expects all three settings or none. Reads the key from its file once, at start. */
export function readDkim(read: SettingReader): DkimSettings | null {
  const [domain, selector, file] = dkimNames.map(read.raw);
  if (!domain && !selector && !file) return null;
  for (const name of dkimNames) {
    if (read.raw(name) === null) read.fault(name, "", `all of ${dkimNames.join(", ")}, or none of them`);
  }
  if (domain && !domainName.test(domain)) read.fault("DKIM_DOMAIN", domain, "a domain name in ASCII: example.org");
  if (selector && !domainName.test(selector)) read.fault("DKIM_SELECTOR", selector, "letters, digits, - and dots");
  const privateKey = file ? readDkimKey(file, read) : null;
  return domain && selector && privateKey ? { domain, selector, privateKey } : null;
}

function readDkimKey(file: string, read: SettingReader): KeyObject | null {
  const refuse = (why: string): null => {
    read.fault("DKIM_KEY", file, `a PEM file with a private RSA key of at least ${leastBits} bits; ${why}`);
    return null;
  };
  try {
    const key = createPrivateKey(readFileSync(file));
    if (key.asymmetricKeyType !== "rsa") return refuse(`it holds one of ${key.asymmetricKeyType}`);
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    return bits < leastBits ? refuse(`it has ${bits}`) : key;
  } catch (failure) {
    return refuse((failure as Error).message);
  }
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
  if (value.length > longestUrl || !URL.canParse(value)) return false;
  const { protocol, hostname, username, search, hash } = new URL(value);
  const isSafe = protocol === "https:" || (protocol === "http:" && isLoopback(hostname.replace(/^\[|\]$/g, "")));
  return isSafe && username === "" && search === "" && hash === "";
}
