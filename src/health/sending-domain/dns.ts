import { Resolver } from "node:dns/promises";
import { wordsOf } from "../finding.ts";

/** "Unknown" means that DNS did not answer, which says nothing about the record. */
export type Answer<Value> =
  | { readonly kind: "found"; readonly values: readonly Value[] }
  | { readonly kind: "none" }
  | { readonly kind: "unknown"; readonly why: string };

export interface Dns {
  /** Each TXT record with its pieces joined. */
  readonly txt: (name: string) => Promise<Answer<string>>;
  readonly mx: (name: string) => Promise<Answer<string>>;
  /** IPv4 and IPv6. */
  readonly addresses: (name: string) => Promise<Answer<string>>;
  /** The names of an address. */
  readonly names: (address: string) => Promise<Answer<string>>;
}

export type DnsSettings = {
  /** Addresses, each with a port where it is not 53; null: those of this host. */
  readonly servers: readonly string[] | null;
  readonly timeoutMs: number;
};

export function createDns({ servers, timeoutMs }: DnsSettings): Dns {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers !== null) resolver.setServers(servers);
  const txt = async (name: string) => (await resolver.resolveTxt(name)).map((pieces) => pieces.join(""));
  const mx = async (name: string) => (await resolver.resolveMx(name)).map(({ exchange }) => exchange);
  return {
    txt: (name) => answerOf(txt(name)),
    mx: (name) => answerOf(mx(name)),
    addresses: async (name) =>
      merge(await Promise.all([answerOf(resolver.resolve4(name)), answerOf(resolver.resolve6(name))])),
    names: (address) => answerOf(resolver.reverse(address)),
  };
}

const saysNone = new Set(["ENOTFOUND", "ENODATA"]);

async function answerOf<Value>(asked: Promise<readonly Value[]>): Promise<Answer<Value>> {
  try {
    const values = await asked;
    return values.length === 0 ? { kind: "none" } : { kind: "found", values };
  } catch (failure) {
    const { code = "" } = failure as NodeJS.ErrnoException;
    return saysNone.has(code) ? { kind: "none" } : { kind: "unknown", why: wordsOf(failure) };
  }
}

function merge<Value>(answers: readonly Answer<Value>[]): Answer<Value> {
  const values = answers.flatMap((answer) => (answer.kind === "found" ? answer.values : []));
  if (values.length > 0) return { kind: "found", values };
  return answers.find(({ kind }) => kind === "unknown") ?? { kind: "none" };
}
