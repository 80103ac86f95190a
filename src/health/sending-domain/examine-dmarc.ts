import { type Finding, fine, serious, warning } from "../finding.ts";
import type { Answer, Dns } from "./dns.ts";
import { readTagList } from "./tag-list.ts";

/** What alignment compares with the From domain. */
export type Identities = {
  readonly domain: string;
  readonly returnPathDomain: string;
  /** The d= of the signatures of a mail; empty if Waybill signs none. */
  readonly signingDomains: readonly string[];
};

type Policy = { readonly at: string; readonly record: string };

const isDmarc = (record: string): boolean => /^v\s*=\s*DMARC1\s*(;|$)/.test(record);
const policies = ["none", "quarantine", "reject"];

export async function examineDmarc(dns: Dns, identities: Identities): Promise<readonly Finding[]> {
  const { domain } = identities;
  const publish = `Publish at _dmarc.${domain}: TXT "v=DMARC1; p=none; rua=mailto:dmarc@${domain}".`;
  const levels = await Promise.all(
    domainsFrom(domain).map(async (at) => ({ at, answer: await dns.txt(`_dmarc.${at}`) })),
  );
  const policiesFound = levels.flatMap(({ at, answer }) => toPolicies(at, answer));
  const own = policiesFound.filter(({ at }) => at === domain);
  if (own.length > 1) {
    return [
      serious("dmarc", `_dmarc.${domain} has ${own.length} DMARC records, so that receivers use none`, "Keep one."),
    ];
  }
  const unknown = levels.map(({ answer }) => answer).find((answer) => answer.kind === "unknown");
  if (unknown?.kind === "unknown" && own.length === 0) {
    const advice = "This does not mean that it is missing. Check the network and DNS_SERVERS, and try again.";
    return [warning("dmarc", `Not known: DNS did not answer for _dmarc.${domain} (${unknown.why})`, advice)];
  }
  // The last one found is that of the organization: the walk over the tree that replaces the public suffix list.
  const organization = policiesFound.at(-1);
  const policy = own[0] ?? organization;
  if (policy === undefined || organization === undefined) {
    return [serious("dmarc", `${domain} has no DMARC record`, publish)];
  }
  const tags = readTagList(policy.record);
  const asked = (policy.at === domain ? null : tags?.get("sp")) ?? tags?.get("p");
  if (tags === null || asked === undefined || !policies.includes(asked.toLowerCase())) {
    const advice = policy.at === domain ? publish : `Correct it: p= is one of ${policies.join(", ")}.`;
    return [serious("dmarc", `The DMARC record at _dmarc.${policy.at} is not valid: "${policy.record}"`, advice)];
  }
  return [
    fine("dmarc", `_dmarc.${policy.at} has "${policy.record}": the policy is ${asked.toLowerCase()}`),
    judgeAlignment(identities, tags, organization.at),
  ];
}

/** The domain and those above it, without top-level domains. */
function domainsFrom(domain: string): readonly string[] {
  const labels = domain.split(".");
  return labels.slice(0, Math.max(1, labels.length - 1)).map((_, index) => labels.slice(index).join("."));
}

const toPolicies = (at: string, answer: Answer<string>): readonly Policy[] =>
  answer.kind === "found" ? answer.values.filter(isDmarc).map((record) => ({ at, record })) : [];

function judgeAlignment(identities: Identities, tags: ReadonlyMap<string, string>, organization: string): Finding {
  const { domain, returnPathDomain, signingDomains } = identities;
  const isAligned = (other: string, mode: string | undefined): boolean =>
    other === domain || (mode?.toLowerCase() !== "s" && (other === organization || other.endsWith(`.${organization}`)));
  const bySpf = isAligned(returnPathDomain, tags.get("aspf"));
  const byDkim = signingDomains.some((signing) => isAligned(signing, tags.get("adkim")));
  if (bySpf && byDkim) return fine("dmarc", `The From domain is aligned with the return path and with DKIM`);
  if (byDkim) {
    const advice = `Set MAIL_RETURN_PATH to an address below ${domain}, so that SPF counts too.`;
    return warning(
      "dmarc",
      `From ${domain} is aligned with DKIM, not with the return path ${returnPathDomain}`,
      advice,
    );
  }
  const advice = `Sign with a key whose domain is ${domain} (DKIM_KEYS): signatures survive forwarding, SPF does not.`;
  if (bySpf)
    return warning("dmarc", `From ${domain} is aligned with the return path, not with a DKIM key of Waybill`, advice);
  const what = `From ${domain} is aligned with neither the return path ${returnPathDomain} nor a DKIM key of Waybill`;
  return serious("dmarc", what, advice);
}
