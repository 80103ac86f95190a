import { lookup, Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isAddress } from "./addresses.ts";

export type HostAddress = { readonly address: string; readonly family: number };

export type ResolveHost = (host: string, over: AbortSignal) => Promise<readonly HostAddress[]>;

type Sources = {
  /** Addresses of DNS servers, with ports; those of the machine unless given. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
};

/** DNS servers are asked twice each. */
const dnsTimeoutMs = 2000;
/** Some name servers never answer for IPv6: once a host has addresses of one family, those of the other may take so long. */
const otherFamilyMs = 1000;
/** It was not DNS that said that there is no such host. */
const unanswered: readonly unknown[] = ["ETIMEOUT", "ECANCELLED"];

let lastLookup: Promise<unknown> = Promise.resolve();

/**
 * Finds every address of a host: in the hosts file, then in DNS. `lookup` of Node waits for DNS in one of a process's few
 * threads, so that some hosts of one tenant whose DNS never answers would keep all other lookups waiting, those of NATS and
 * the database too. It is left with the names that DNS does not know, such as those of a search domain, one at a time.
 */
export const createResolveHost =
  ({ servers, hostsFile = "/etc/hosts" }: Sources = {}): ResolveHost =>
  async (host, over) => {
    const known = inHosts(await readFile(hostsFile, "utf8").catch(() => ""), host);
    if (known.length > 0) return known;
    const resolver = new Resolver({ timeout: dnsTimeoutMs, tries: 2 });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = (): void => resolver.cancel();
    over.addEventListener("abort", cancel, { once: true });
    const answers = await askForBoth(resolver, host);
    over.removeEventListener("abort", cancel);
    const found = answers.flatMap((answer, index) =>
      answer.status === "rejected" ? [] : answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })),
    );
    const isSilent = answers.some((answer) => answer.status === "rejected" && unanswered.includes(answer.reason.code));
    return found.length > 0 || isSilent ? found : await lookUpInTurn(host, over);
  };

async function askForBoth(resolver: Resolver, host: string): Promise<readonly PromiseSettledResult<string[]>[]> {
  const asked = [resolver.resolve4(host), resolver.resolve6(host)];
  let timer: NodeJS.Timeout | undefined;
  const hurry = (): void => {
    timer = setTimeout(() => resolver.cancel(), otherFamilyMs);
  };
  Promise.any(asked).then(hurry, () => {});
  return await Promise.allSettled(asked).finally(() => clearTimeout(timer));
}

function lookUpInTurn(host: string, over: AbortSignal): Promise<readonly HostAddress[]> {
  const found = lastLookup.then(() => (over.aborted ? [] : lookup(host, { all: true })));
  lastLookup = found.catch(() => {});
  return found;
}

function inHosts(text: string, host: string): readonly HostAddress[] {
  const name = host.toLowerCase();
  return text.split("\n").flatMap((line) => {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (!isAddress(address) || !names.some((one) => one.toLowerCase() === name)) return [];
    return [{ address, family: address.includes(":") ? 6 : 4 }];
  });
}
