import { isIP } from "node:net";
import { type Finding, fine, serious, warning } from "../finding.ts";
import type { Dns } from "./dns.ts";
import { mostLookups, resolveSpf, type Spf } from "./resolve-spf.ts";
import { isSpf } from "./spf-record.ts";

/** The mail server as far as SPF can know it. */
export type Sender = {
  /** The host of SMTP_URL. */
  readonly host: string;
  /** Its public addresses; empty if none is known. */
  readonly addresses: readonly string[];
};

const onUnknown = "This does not mean that it is missing. Check the network and DNS_SERVERS, and try again.";

/** SPF of the domain of the return path, which is what receivers look at (RFC 7208 2.4). */
export async function examineSpf(dns: Dns, domain: string, sender: Sender): Promise<readonly Finding[]> {
  const publish = `Publish at ${domain}: TXT "v=spf1 ${termOf(sender)} ~all"`;
  const answer = await dns.txt(domain);
  if (answer.kind === "unknown")
    return [warning("spf", `Not known: DNS did not answer for ${domain} (${answer.why})`, onUnknown)];
  const records = answer.kind === "none" ? [] : answer.values.filter(isSpf);
  const [record] = records;
  if (record === undefined) return [serious("spf", `${domain} has no SPF record`, `${publish}.`)];
  if (records.length > 1) {
    const advice = `Join them into one record that begins with v=spf1, and delete the others.`;
    return [serious("spf", `${domain} has ${records.length} SPF records, so that receivers use none`, advice)];
  }
  const spf = await resolveSpf(dns, domain, record);
  return [toFinding(domain, record, spf), ...examineCoverage(domain, record, spf, sender)];
}

function toFinding(domain: string, record: string, { faults, unknowns, lookups }: Spf): Finding {
  if (faults.length > 0) {
    return serious("spf", `The SPF record of ${domain} is refused by receivers: ${faults.join("; ")}`, "Correct it.");
  }
  if (lookups > mostLookups) {
    const what = `The SPF record of ${domain} needs ${lookups} DNS lookups; receivers give up after ${mostLookups}`;
    return serious("spf", what, "Remove includes that are no longer used, or write their networks as ip4: and ip6:.");
  }
  if (unknowns.length > 0) {
    return warning("spf", `Not known: DNS did not tell all of the SPF record of ${domain} (${unknowns[0]})`, onUnknown);
  }
  return fine("spf", `${domain} has "${record}", with ${lookups} of ${mostLookups} DNS lookups`);
}

function examineCoverage(domain: string, record: string, spf: Spf, sender: Sender): readonly Finding[] {
  const { host, addresses } = sender;
  if (addresses.length === 0) {
    const advice = `Make sure that the SPF record of ${domain} names the servers from which your mails leave; a provider tells you its include:.`;
    return [warning("spf", `Not known: from which public addresses ${host} of SMTP_URL sends`, advice)];
  }
  const judged = addresses.map((address) => ({ address, verdict: spf.verdictOn(address) }));
  const isBroken = spf.faults.length > 0 || spf.lookups > mostLookups;
  if (isBroken) return [];
  const outside = judged.filter(({ verdict }) => verdict !== "pass");
  if (outside.length === 0) return [fine("spf", `It covers ${host} of SMTP_URL (${addresses.join(", ")})`)];
  const words = outside.map(({ address, verdict }) => `${address}: ${verdict}`).join(", ");
  const changed = record.replace(/^v=spf1/i, `v=spf1 ${termOf(sender)}`);
  // The addresses at which a server takes mails need not be those from which it sends.
  const advice = `If mails leave from there, publish at ${domain}: TXT "${changed}". A provider tells you its include: instead.`;
  return [warning("spf", `It does not cover ${host} of SMTP_URL (${words})`, advice)];
}

const termOf = ({ host, addresses }: Sender): string => {
  if (addresses.length === 0) return "include:<what your mail provider names>";
  const version = isIP(host);
  return version === 0 ? `a:${host}` : `ip${version}:${host}`;
};
