import { isIP } from "node:net";

export type SpfQualifier = "+" | "-" | "~" | "?";

export type SpfTerm = {
  readonly qualifier: SpfQualifier;
  readonly name: "all" | "include" | "a" | "mx" | "ptr" | "ip4" | "ip6" | "exists" | "redirect";
  /** A domain or an address; null: the domain of the record. */
  readonly value: string | null;
  /** The lengths of the prefixes; null for a whole address. */
  readonly prefix4: number | null;
  readonly prefix6: number | null;
};

export const isSpf = (record: string): boolean => /^v=spf1( |$)/i.test(record);

const form =
  /^([-+~?]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?::([^/\s]+|[0-9a-f:.]+))?(?:\/(\d{1,3}))?(?:\/\/(\d{1,3}))?$/i;
const modifier = /^([a-z][a-z0-9_.-]*)=(.*)$/i;
const needsValue = new Set(["include", "ip4", "ip6", "exists"]);

/** RFC 7208 12. Returns the terms that decide, and those that no receiver understands. */
export function readSpf(record: string): { readonly terms: readonly SpfTerm[]; readonly faults: readonly string[] } {
  const terms: SpfTerm[] = [];
  const faults: string[] = [];
  for (const word of record.trim().split(/ +/).slice(1)) {
    const term = readTerm(word);
    if (term === "unimportant") continue;
    if (term === null) faults.push(word);
    else terms.push(term);
  }
  return { terms, faults };
}

function readTerm(word: string): SpfTerm | "unimportant" | null {
  const [, modifierName = "", target = ""] = modifier.exec(word) ?? [];
  if (modifierName.toLowerCase() === "redirect") {
    return target === "" ? null : { qualifier: "+", name: "redirect", value: target, prefix4: null, prefix6: null };
  }
  if (modifierName !== "") return "unimportant";
  const match = form.exec(word);
  if (match === null) return null;
  const name = (match[2] ?? "").toLowerCase() as SpfTerm["name"];
  const value = match[3] ?? null;
  const [first, second] = [match[4], match[5]].map((digits) => (digits === undefined ? null : Number(digits)));
  const [prefix4 = null, prefix6 = null] = name === "ip6" ? [null, first ?? null] : [first, second];
  if ((prefix4 ?? 0) > 32 || (prefix6 ?? 0) > 128 || (needsValue.has(name) && value === null)) return null;
  if (name === "ip4" && isIP(value ?? "") !== 4) return null;
  if (name === "ip6" && isIP(value ?? "") !== 6) return null;
  return { qualifier: (match[1] || "+") as SpfQualifier, name, value, prefix4, prefix6 };
}
