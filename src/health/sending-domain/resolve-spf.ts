import { BlockList, isIPv6 } from "node:net";
import type { Answer, Dns } from "./dns.ts";
import { isSpf, readSpf, type SpfTerm } from "./spf-record.ts";

export type SpfVerdict = "pass" | "fail" | "softfail" | "neutral";

/** Terms whose result depends on the mail, or on an answer that DNS did not give, match null: not known. */
type Rule = { readonly verdict: SpfVerdict; readonly matches: (address: string) => boolean | null };

type Walk = { readonly dns: Dns; lookups: number; readonly faults: string[]; readonly unknowns: string[] };

export type Spf = {
  readonly lookups: number;
  /** What makes receivers give up on the record. */
  readonly faults: readonly string[];
  /** What DNS did not tell. */
  readonly unknowns: readonly string[];
  readonly verdictOn: (address: string) => SpfVerdict | "unknown";
};

/** RFC 7208 4.6.4. Everything is looked up, as a receiver does for an address that no term names. */
export const mostLookups = 10;
/** A walk ends here, however long the record goes on. */
const giveUpAfter = 3 * mostLookups;

const verdicts = { "+": "pass", "-": "fail", "~": "softfail", "?": "neutral" } as const;

export async function resolveSpf(dns: Dns, domain: string, record: string): Promise<Spf> {
  const walk: Walk = { dns, lookups: 0, faults: [], unknowns: [] };
  const rules = await toRules(walk, domain, record);
  const { lookups, faults, unknowns } = walk;
  return { lookups, faults, unknowns, verdictOn: (address) => verdictOf(rules, address) };
}

function verdictOf(rules: readonly Rule[], address: string): SpfVerdict | "unknown" {
  for (const { verdict, matches } of rules) {
    const isMatch = matches(address);
    if (isMatch === null) return "unknown";
    if (isMatch) return verdict;
  }
  return "neutral";
}

async function toRules(walk: Walk, domain: string, record: string): Promise<readonly Rule[]> {
  const { terms, faults } = readSpf(record);
  walk.faults.push(...faults.map((word) => `"${word}" in the record of ${domain} is no term of SPF`));
  const rules: Rule[] = [];
  // In order, so that the lookups are counted as a receiver counts them. `redirect` counts only without `all`.
  const mechanisms = terms.filter(({ name }) => name !== "redirect");
  for (const term of mechanisms) {
    rules.push({ verdict: verdicts[term.qualifier], matches: await toMatcher(walk, domain, term) });
    if (term.name === "all") return rules;
  }
  const redirect = terms.find(({ name }) => name === "redirect")?.value ?? null;
  return redirect === null ? rules : [...rules, ...(await rulesOf(walk, redirect))];
}

/** Of another domain, whose record has to be there. */
async function rulesOf(walk: Walk, domain: string): Promise<readonly Rule[]> {
  const unknown: readonly Rule[] = [{ verdict: "neutral", matches: () => null }];
  walk.lookups += 1;
  if (domain.includes("%") || walk.lookups > giveUpAfter) return unknown;
  const answer = await walk.dns.txt(domain);
  if (answer.kind === "unknown") {
    walk.unknowns.push(answer.why);
    return unknown;
  }
  const records = answer.kind === "none" ? [] : answer.values.filter(isSpf);
  const [record] = records;
  if (record !== undefined && records.length === 1) return toRules(walk, domain, record);
  walk.faults.push(
    `${domain}, which it includes, has ${records.length === 0 ? "no SPF record" : "several SPF records"}`,
  );
  return unknown;
}

async function toMatcher(walk: Walk, domain: string, term: SpfTerm): Promise<Rule["matches"]> {
  const name = term.value ?? domain;
  switch (term.name) {
    case "all":
      return () => true;
    case "ip4":
    case "ip6":
      return within([name], term);
    case "include": {
      const rules = await rulesOf(walk, name);
      return (address) => {
        const verdict = verdictOf(rules, address);
        return verdict === "unknown" ? null : verdict === "pass";
      };
    }
    case "a":
    case "mx": {
      walk.lookups += 1;
      const addresses = name.includes("%") ? null : await addressesOf(walk, name, term.name);
      return addresses === null ? () => null : within(addresses, term);
    }
    case "ptr":
    case "exists":
    case "redirect":
      walk.lookups += 1;
      return () => null;
  }
}

/** Null if DNS did not tell. */
async function addressesOf(walk: Walk, name: string, kind: "a" | "mx"): Promise<readonly string[] | null> {
  if (walk.lookups > giveUpAfter) return null;
  const hosts: Answer<string> = kind === "a" ? { kind: "found", values: [name] } : await walk.dns.mx(name);
  const answers = hosts.kind === "found" ? await Promise.all(hosts.values.slice(0, 10).map(walk.dns.addresses)) : [];
  const unknown = [hosts, ...answers].find((answer) => answer.kind === "unknown");
  if (unknown?.kind === "unknown") {
    walk.unknowns.push(unknown.why);
    return null;
  }
  return answers.flatMap((answer) => (answer.kind === "found" ? answer.values : []));
}

function within(addresses: readonly string[], { prefix4, prefix6 }: SpfTerm): Rule["matches"] {
  const list = new BlockList();
  for (const address of addresses) {
    if (isIPv6(address)) list.addSubnet(address, prefix6 ?? 128, "ipv6");
    else list.addSubnet(address, prefix4 ?? 32, "ipv4");
  }
  return (address) => list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
