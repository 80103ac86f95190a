import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Networks that may be called although they are private. */
export type AllowedNetworks = readonly (readonly [ipaddr.IPv4 | ipaddr.IPv6, number])[];

/** Azure answers its machines' questions about themselves at a public address. */
const metadataAddresses = ["168.63.129.16"];

/** All that is handed out to the public; the rest of IPv6 is local, translated, or nobody's. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/** Networks from text such as `127.0.0.0/8,fd00::/8`, each by itself; null for what is none. */
export const readNetworks = (text: string): readonly (AllowedNetworks[number] | null)[] =>
  text.split(",").map((one) => {
    const network = one.trim();
    return ipaddr.isValidCIDR(network) ? ipaddr.parseCIDR(network) : null;
  });

export const isAddress = (host: string): boolean => isIP(host) !== 0;

/** An IPv4 address in the clothes of an IPv6 one is what it is. */
export const isInNetworks = (address: string, networks: AllowedNetworks): boolean => {
  const one = ipaddr.process(address);
  return networks.some(([network, bits]) => isWithin(one, network, bits));
};

function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, network: ipaddr.IPv4 | ipaddr.IPv6, bits: number): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits);
  return network instanceof ipaddr.IPv6 && address.match(network, bits);
}

/**
 * Whether an address is one of the public internet: none of loopback, private, link-local, shared, multicast, reserved,
 * none that stands for an IPv4 address behind a translator, and none that clouds answer with a machine's credentials.
 */
export function isPublic(address: string): boolean {
  const one = ipaddr.process(address);
  if (one.range() !== "unicast" || metadataAddresses.includes(one.toString())) return false;
  return one instanceof ipaddr.IPv4 || one.match(globalUnicast);
}

/** Below 1024 stand the services of machines: nobody is made to speak HTTP to a mail server. */
const isOpenPort = (port: string): boolean => port === "" || port === "80" || port === "443" || Number(port) >= 1024;

export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1");

/**
 * What was expected instead of this URL, for people; null where it may be called as far as can be told without looking
 * its host up. What it leads to is looked at whenever it is called.
 */
export function whyNotToCall(text: string, allowed: AllowedNetworks): string | null {
  if (text.length > 2048 || !URL.canParse(text)) return "a URL of at most 2048 characters";
  const url = new URL(text);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && allowed.length > 0)) return "a URL with https";
  if (url.username !== "" || url.password !== "") return "a URL without a user or a password";
  if (!isOpenPort(url.port)) return "a URL whose port is 80, 443, or at least 1024";
  const host = hostOf(url);
  const isLocalName = /(^|\.)localhost\.?$/.test(host) && allowed.length === 0;
  const isLocalAddress = isAddress(host) && !isPublic(host) && !isInNetworks(host, allowed);
  return isLocalName || isLocalAddress ? "a URL of a host on the public internet" : null;
}
