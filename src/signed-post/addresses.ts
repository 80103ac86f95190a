import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Private networks that may be called all the same. */
export type AllowedNetworks = readonly (readonly [ipaddr.IPv4 | ipaddr.IPv6, number])[];

/** Azure serves the metadata of its machines at a public address. */
const metadataAddresses = ["168.63.129.16"];

/** The part of IPv6 that is assigned to the public; the rest is local, translated or unassigned. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/** Reads networks from text such as `127.0.0.0/8,fd00::/8`; null stands for each item that is not a network. */
export const readNetworks = (text: string): readonly (AllowedNetworks[number] | null)[] =>
  text.split(",").map((one) => {
    const network = one.trim();
    return ipaddr.isValidCIDR(network) ? ipaddr.parseCIDR(network) : null;
  });

export const isAddress = (host: string): boolean => isIP(host) !== 0;

/** An IPv4 address written as an IPv6 one (`::ffff:10.0.0.1`) counts as the IPv4 address. */
export const isInNetworks = (address: string, networks: AllowedNetworks): boolean => {
  const one = ipaddr.process(address);
  return networks.some(([network, bits]) => isWithin(one, network, bits));
};

function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, network: ipaddr.IPv4 | ipaddr.IPv6, bits: number): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits);
  return network instanceof ipaddr.IPv6 && address.match(network, bits);
}

/**
 * Whether an address belongs to the public internet. Loopback, private, link-local, shared, multicast and reserved
 * addresses do not, nor do those that stand for an IPv4 address behind a translator, nor those at which clouds serve the
 * credentials of a machine.
 */
export function isPublic(address: string): boolean {
  const one = ipaddr.process(address);
  if (one.range() !== "unicast" || metadataAddresses.includes(one.toString())) return false;
  return one instanceof ipaddr.IPv4 || one.match(globalUnicast);
}

/** System services listen below 1024: a tenant's URL must not make Waybill speak HTTP to a mail server. */
const isOpenPort = (port: string): boolean => port === "" || port === "80" || port === "443" || Number(port) >= 1024;

export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1");

/**
 * What was expected instead of this URL, in words for people; null if it may be called, as far as the URL alone tells.
 * The addresses of its host are checked on every call.
 */
export function whyNotToCall(text: string, allowed: AllowedNetworks): string | null {
  if (text.length > 2048 || !URL.canParse(text)) return "a URL of at most 2048 characters";
  const url = new URL(text);
  const isLocal = isLocalHost(hostOf(url), allowed);
  const orAllowed = isLocal ? ", or of a network that the setting WEBHOOK_ALLOW names" : "";
  if (url.protocol !== "https:" && !(url.protocol === "http:" && allowed.length > 0))
    return `a URL with https${orAllowed}`;
  if (url.username !== "" || url.password !== "") return "a URL without a user or a password";
  if (!isOpenPort(url.port)) return "a URL whose port is 80, 443, or at least 1024";
  return isLocal ? `a URL of a host on the public internet${orAllowed}` : null;
}

function isLocalHost(host: string, allowed: AllowedNetworks): boolean {
  if (isAddress(host)) return !isPublic(host) && !isInNetworks(host, allowed);
  return /(^|\.)localhost\.?$/.test(host) && allowed.length === 0;
}
