import { type Finding, fine, serious, warning } from "../finding.ts";
import type { Dns } from "./dns.ts";
import type { Sender } from "./examine-spf.ts";

const onUnknown = "This does not mean that it is missing. Check the network and DNS_SERVERS, and try again.";

/** Whether mail servers can report to the return path; `isOwn` if MAIL_RETURN_PATH names it. */
export async function examineMx(dns: Dns, domain: string, isOwn: boolean): Promise<readonly Finding[]> {
  const answer = await dns.mx(domain);
  if (answer.kind === "unknown")
    return [warning("mx", `Not known: DNS did not answer for ${domain} (${answer.why})`, onUnknown)];
  const hosts = answer.kind === "none" ? [] : answer.values.filter((host) => host !== "" && host !== ".");
  if (hosts.length === 0) {
    const what = `${domain} has no MX record: what did not arrive cannot be reported to its addresses`;
    const advice = `Publish at ${domain}: MX 10 <the host that takes its mails>.`;
    return [isOwn ? serious("mx", what, advice) : warning("mx", what, advice)];
  }
  const answers = await Promise.all(hosts.map(async (host) => ({ host, found: await dns.addresses(host) })));
  const lost = answers.filter(({ found }) => found.kind === "none").map(({ host }) => host);
  if (lost.length === hosts.length) {
    const advice = `Publish an A record for ${hosts[0]}, or name another host in the MX record of ${domain}.`;
    return [serious("mx", `No MX host of ${domain} has an address (${hosts.join(", ")})`, advice)];
  }
  if (lost.length > 0) {
    return [
      warning("mx", `MX hosts of ${domain} have no address: ${lost.join(", ")}`, "Remove them from the MX record."),
    ];
  }
  return [fine("mx", `${domain} takes mails at ${hosts.join(", ")}`)];
}

/** Whether each address has a name that leads back to it, as Gmail and Yahoo ask of the addresses that send. */
export async function examinePtr(dns: Dns, { host, addresses }: Sender): Promise<readonly Finding[]> {
  if (addresses.length === 0) {
    const advice = "Make sure that each address from which your mails leave has a PTR record; a provider sees to that.";
    return [warning("ptr", `Not known: from which public addresses ${host} of SMTP_URL sends`, advice)];
  }
  return Promise.all(addresses.map((address) => examineAddress(dns, host, address)));
}

async function examineAddress(dns: Dns, host: string, address: string): Promise<Finding> {
  const names = await dns.names(address);
  const unknown = (why: string) => warning("ptr", `Not known: DNS did not answer for ${address} (${why})`, onUnknown);
  if (names.kind === "unknown") return unknown(names.why);
  const advice = `Have the owner of ${address} publish for it: PTR ${host}; and at ${host} the address.`;
  if (names.kind === "none") return warning("ptr", `${address} of ${host} has no PTR record`, advice);
  const forward = await Promise.all(names.values.map(async (name) => ({ name, found: await dns.addresses(name) })));
  const back = forward.find(({ found }) => found.kind === "found" && found.values.includes(address));
  if (back !== undefined) return fine("ptr", `${address} is ${back.name}, and back`);
  const silent = forward.map(({ found }) => found).find((found) => found.kind === "unknown");
  if (silent?.kind === "unknown") return unknown(silent.why);
  return warning("ptr", `${address} is ${names.values.join(", ")}, which does not lead back to it`, advice);
}
