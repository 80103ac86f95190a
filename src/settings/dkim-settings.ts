import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DkimKey, DkimSettings } from "../mail/dkim.ts";
import type { SettingReader } from "./setting-reader.ts";

const dkimNames = ["DKIM_DOMAIN", "DKIM_SELECTOR", "DKIM_KEY"] as const;
export const domainName = /^(?!-)[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*$/;
/** RFC 8301 3.2: a verifier must not accept a signature by a shorter key. */
const leastBits = 1024;

/**
 * The key of DKIM_KEY, which signs every mail, and those of DKIM_KEYS, which sign the mails of their domains; null if
 * neither is set. Reads each key from its file once, at start.
 */
export function readDkim(read: SettingReader): DkimSettings | null {
  const fallback = readFallback(read);
  const keys = [...(fallback === null ? [] : [fallback]), ...readKeys(read)];
  reportTwins(keys, read);
  return keys.length === 0 ? null : { keys, fallback };
}

/** Expects all three settings or none. */
function readFallback(read: SettingReader): DkimKey | null {
  const [domain, selector, file] = dkimNames.map(read.raw);
  if (!domain && !selector && !file) return null;
  for (const name of dkimNames) {
    if (read.raw(name) === null) read.fault(name, "", `all of ${dkimNames.join(", ")}, or none of them`);
  }
  if (domain && !domainName.test(domain)) read.fault("DKIM_DOMAIN", domain, "a domain name in ASCII: example.org");
  if (selector && !domainName.test(selector)) read.fault("DKIM_SELECTOR", selector, "letters, digits, - and dots");
  const privateKey = file ? readPrivateKey(file) : null;
  if (file && typeof privateKey === "string") read.fault("DKIM_KEY", file, privateKey);
  if (!domain || !selector || privateKey === null || typeof privateKey === "string") return null;
  return { domain: domain.toLowerCase(), selector, privateKey, from: null };
}

const form = 'a JSON file with a list of { "domain", "selector", "key" (a PEM file), "from" (an instant, optional) }';

function readKeys(read: SettingReader): readonly DkimKey[] {
  const file = read.raw("DKIM_KEYS");
  if (file === null) return [];
  const refuse = (why: string): null => {
    read.fault("DKIM_KEYS", file, `${form}; ${why}`);
    return null;
  };
  const list = readList(file);
  if (typeof list === "string") {
    refuse(list);
    return [];
  }
  return list
    .map((item, index) => readKey(item, dirname(file), (why) => refuse(`key ${index + 1} of ${list.length}: ${why}`)))
    .filter((key) => key !== null);
}

/** Or why there is none. */
function readList(file: string): readonly unknown[] | string {
  try {
    const list: unknown = JSON.parse(readFileSync(file, "utf8"));
    return Array.isArray(list) && list.length > 0 ? list : "it holds no list, or an empty one";
  } catch (failure) {
    return (failure as Error).message;
  }
}

const members = ["domain", "selector", "key", "from"];
/** With its zone: without one, hosts in different zones would change keys at different times. */
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** Reports every fault of the item. A relative path begins at the folder of the list. */
function readKey(item: unknown, folder: string, refuse: (why: string) => null): DkimKey | null {
  if (typeof item !== "object" || item === null || Array.isArray(item)) return refuse("it is not an object");
  const { domain, selector, key, from = null } = item as Readonly<Record<string, unknown>>;
  const faults: string[] = [];
  const unknown = Object.keys(item).filter((name) => !members.includes(name));
  if (unknown.length > 0) faults.push(`${unknown.join(", ")} is unknown`);
  if (!isName(domain)) faults.push("domain is no domain name in ASCII");
  if (!isName(selector)) faults.push("selector is not of letters, digits, - and dots");
  const date = typeof from === "string" && instant.test(from) ? new Date(from) : null;
  if (from !== null && !(date && Number.isFinite(date.getTime()))) faults.push("from is no instant with a time zone");
  const privateKey = typeof key === "string" && key !== "" ? readPrivateKey(resolve(folder, key)) : "it names no file";
  if (typeof privateKey === "string") faults.push(`key: expected ${privateKey}`);
  if (faults.length > 0 || !isName(domain) || !isName(selector) || typeof privateKey === "string") {
    return refuse(faults.join("; "));
  }
  return { domain: domain.toLowerCase(), selector, privateKey, from: date };
}

const isName = (value: unknown): value is string => typeof value === "string" && domainName.test(value);

/** Or what was expected, and what is wrong. */
function readPrivateKey(file: string): KeyObject | string {
  const refuse = (why: string) => `a PEM file with a private RSA key of at least ${leastBits} bits, or Ed25519; ${why}`;
  try {
    const key = createPrivateKey(readFileSync(file));
    if (key.asymmetricKeyType === "ed25519") return key;
    if (key.asymmetricKeyType !== "rsa") return refuse(`it holds one of ${key.asymmetricKeyType}`);
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    return bits < leastBits ? refuse(`it has ${bits}`) : key;
  } catch (failure) {
    return refuse((failure as Error).message);
  }
}

/** Of two keys of one type that begin at the same time, neither is the newer one; a selector publishes one key. */
function reportTwins(keys: readonly DkimKey[], read: SettingReader): void {
  const file = read.raw("DKIM_KEYS") ?? "";
  const wordsFor: readonly [(key: DkimKey) => string, string][] = [
    [
      ({ domain, privateKey, from }) => `${domain} ${privateKey.asymmetricKeyType} ${from?.getTime()}`,
      'keys of one domain and type to differ in "from"',
    ],
    [({ domain, selector }) => `${domain} ${selector.toLowerCase()}`, 'keys of one domain to differ in "selector"'],
  ];
  for (const [toWords, expected] of wordsFor) {
    const seen = new Map<string, DkimKey>();
    for (const key of keys) {
      const earlier = seen.get(toWords(key));
      seen.set(toWords(key), key);
      if (earlier === undefined) continue;
      const both = `${earlier.selector} and ${key.selector} of ${key.domain}`;
      read.fault("DKIM_KEYS", file, `${expected}; ${both} do not`);
    }
  }
}
