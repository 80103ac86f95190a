/** Domains whose mail one provider takes: it counts the mails to all of them together. The name is the first domain. */
const known: readonly (readonly string[])[] = [
  ["gmail.com", "googlemail.com"],
  ["outlook.com", "hotmail.com", "live.com", "msn.com", "hotmail.co.uk", "hotmail.fr", "hotmail.de", "outlook.de"],
  ["yahoo.com", "ymail.com", "rocketmail.com", "aol.com", "aim.com", "yahoo.co.uk", "yahoo.de", "yahoo.fr"],
  ["icloud.com", "me.com", "mac.com"],
  ["gmx.net", "gmx.de", "gmx.at", "gmx.ch", "web.de"],
  ["protonmail.com", "proton.me", "pm.me"],
];

/** The provider of a domain, by domain; a domain that is missing stands for itself. */
export type Providers = ReadonlyMap<string, string>;

/** With the groups of the setting, which are stronger than the known ones: a domain is in the last group that names it. */
export function providersOf(groups: readonly (readonly string[])[]): Providers {
  const providers = new Map<string, string>();
  for (const group of [...known, ...groups]) for (const domain of group) providers.set(domain, group[0] ?? domain);
  return providers;
}

/** The receiver of an address: the provider of its domain. */
export function receiverOf(address: string, providers: Providers): string {
  const domain = address.slice(address.lastIndexOf("@") + 1).toLowerCase();
  return providers.get(domain) ?? domain;
}
