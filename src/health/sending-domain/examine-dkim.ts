import { createPublicKey, type KeyObject } from "node:crypto";
import type { DkimKey } from "../../mail/dkim.ts";
import { type Finding, fine, serious, warning } from "../finding.ts";
import type { Dns } from "./dns.ts";
import { readTagList } from "./tag-list.ts";

/** What Google recommends; RFC 8301 3.2 asks for it as well. */
const recommendedBits = 2048;

/** The keys that sign the mails of the domain, now or later. */
export async function examineDkim(
  dns: Dns,
  domain: string,
  keys: readonly DkimKey[],
  now: Date,
): Promise<readonly Finding[]> {
  if (keys.length === 0) {
    const advice = "Set DKIM_KEYS (waybill signs), or make sure that your mail server signs with d= of this domain.";
    return [
      warning("dkim", `Waybill has no DKIM key for ${domain}: whether its mails are signed is not known`, advice),
    ];
  }
  return (await Promise.all(keys.map((key) => examineKey(dns, key, now)))).flat();
}

async function examineKey(dns: Dns, key: DkimKey, now: Date): Promise<readonly Finding[]> {
  const name = `${key.selector}._domainkey.${key.domain}`;
  const own = publicPart(key.privateKey);
  const publish = `Publish at ${name}: TXT "v=DKIM1; k=${own.type}; p=${own.value}".`;
  const since = key.from !== null && key.from > now ? ` (it signs from ${key.from.toISOString()})` : "";
  const wrong = (what: string): readonly Finding[] => [
    since === "" ? serious("dkim", what, publish) : warning("dkim", `${what}${since}`, publish),
  ];
  const answer = await dns.txt(name);
  if (answer.kind === "unknown") {
    const advice = "This does not mean that it is missing. Check the network and DNS_SERVERS, and try again.";
    return [warning("dkim", `Not known: DNS did not answer for ${name} (${answer.why})`, advice)];
  }
  if (answer.kind === "none") return wrong(`${name} has no key`);
  if (answer.values.length > 1)
    return wrong(`${name} has ${answer.values.length} records, of which receivers take any`);
  const tags = readTagList(answer.values[0] ?? "");
  const published = tags?.get("p")?.replace(/\s/g, "");
  if (tags === null || published === undefined || (tags.get("v") ?? "DKIM1") !== "DKIM1") {
    return wrong(`The record at ${name} is no DKIM key`);
  }
  if (published === "") return wrong(`The key at ${name} is revoked (p= is empty)`);
  if ((tags.get("k") ?? "rsa") !== own.type || published !== own.value) {
    return wrong(`The key at ${name} is not the one that Waybill signs with`);
  }
  return [judgeLength(name, key.privateKey, since), ...judgeFlags(name, tags)];
}

function judgeLength(name: string, key: KeyObject, since: string): Finding {
  const bits = key.asymmetricKeyDetails?.modulusLength;
  if (bits === undefined) return fine("dkim", `${name} publishes our Ed25519 key${since}`);
  if (bits >= recommendedBits) return fine("dkim", `${name} publishes our RSA key of ${bits} bits${since}`);
  const advice = `Make a key of ${recommendedBits} bits under a new selector, publish it, and add it to DKIM_KEYS.`;
  return warning("dkim", `The RSA key at ${name} has ${bits} bits`, advice);
}

function judgeFlags(name: string, tags: ReadonlyMap<string, string>): readonly Finding[] {
  const isTesting = (tags.get("t") ?? "").split(":").some((flag) => flag.trim() === "y");
  if (!isTesting) return [];
  return [
    warning("dkim", `${name} says t=y: receivers may treat its mails as unsigned`, "Remove t=y from the record."),
  ];
}

/** As in the tags `k` and `p` of a record. RFC 8463 4.2: of an Ed25519 key the 32 bytes alone. */
function publicPart(privateKey: KeyObject): { readonly type: string; readonly value: string } {
  const der = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  return privateKey.asymmetricKeyType === "ed25519"
    ? { type: "ed25519", value: der.subarray(-32).toString("base64") }
    : { type: "rsa", value: der.toString("base64") };
}
