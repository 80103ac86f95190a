import { type AllowedNetworks, isAddress, isInNetworks, isPublic } from "./addresses.ts";

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
