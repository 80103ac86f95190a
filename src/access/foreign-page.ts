import { isLoopback } from "../domain/loopback.ts";

/** What a request says of where it comes from. */
export type Origin = {
  readonly method: string;
  /** As in the header: with a port. Programs that are no browsers may leave it out. */
  readonly host: string | undefined;
  /** The header `Sec-Fetch-Site`, which pages cannot forge. */
  readonly site: string | undefined;
};

/** As most requests name it: parsing the name of a host takes as long as all the other checks of a request. */
const thisMachine = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

/**
 * Whether a request comes from a page that is none of this service, in a browser on this machine: by a name that its owner
 * has pointed here, or across sites by a form that no browser asks about first. Such a page must not act for a service
 * that asks for no keys.
 */
export function isForeignPage({ method, host, site }: Origin): boolean {
  if (site === "cross-site" && method !== "GET" && method !== "HEAD") return true;
  if (host === undefined || thisMachine.test(host)) return false;
  const name = nameIn(host);
  return !isLoopback(name) && !name.endsWith(".localhost");
}

/** `localhost` of `LocalHost:3000`, `::1` of `[::1]:3000`. */
const nameIn = (host: string): string => {
  try {
    return new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, "");
  } catch {
    return host;
  }
};
