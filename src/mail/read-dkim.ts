import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import type { DkimSettings } from "./dkim.ts";

/** Reads a setting, null where there is none; and notes what is wrong with one, with what was expected. */
type Reader = {
  readonly raw: (name: string) => string | null;
  readonly fault: (name: string, value: string, expected: string) => void;
};

const names = ["DKIM_DOMAIN", "DKIM_SELECTOR", "DKIM_KEY"] as const;
const domainName = /^(?!-)[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*$/;
/** RFC 8301 3.2: whoever verifies must not take a signature of less. */
const leastBits = 1024;

/** All three or none; the key is read from its file once, now. */
export function readDkim(read: Reader): DkimSettings | null {
  const [domain, selector, file] = names.map(read.raw);
  if (!domain && !selector && !file) return null;
  for (const name of names) {
    if (read.raw(name) === null) read.fault(name, "", `all of ${names.join(", ")}, or none of them`);
  }
  if (domain && !domainName.test(domain)) read.fault("DKIM_DOMAIN", domain, "a domain name in ASCII: example.org");
  if (selector && !domainName.test(selector)) read.fault("DKIM_SELECTOR", selector, "letters, digits, - and dots");
  const privateKey = file ? readKey(file, read) : null;
  return domain && selector && privateKey ? { domain, selector, privateKey } : null;
}

function readKey(file: string, read: Reader): KeyObject | null {
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
