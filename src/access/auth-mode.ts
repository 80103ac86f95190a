import { isIPv4 } from "node:net";
import type { KeyRing } from "./key-ring.ts";

export const authModes = ["auto", "required", "off"] as const;

/** Whether callers need a key: `auto` asks for one as soon as one was made, or others than this machine can call. */
export type AuthMode = (typeof authModes)[number];

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));

export function asksForKeys(mode: AuthMode, host: string, ring: Pick<KeyRing, "hasKeys">): boolean {
  switch (mode) {
    case "required":
      return true;
    case "off":
      return false;
    case "auto":
      return !isLoopback(host) || ring.hasKeys();
  }
}

const howToMakeOne = "Make one: waybill keys create --tenant default";

/** Why the API must not start, in words for the person who started it; null where nothing is in the way. */
export const whyNotToStart = (mode: AuthMode, host: string, ring: Pick<KeyRing, "hasUsableKey">): string | null =>
  mode === "auto" && !isLoopback(host) && !ring.hasUsableKey()
    ? `There is no API key, and HOST is ${JSON.stringify(host)}, which others can reach. ${howToMakeOne}`
    : null;

/** For the log of a service that starts and can let nobody in yet. */
export const noKeyYet = (mode: AuthMode, ring: Pick<KeyRing, "hasUsableKey">): string | null =>
  mode === "required" && !ring.hasUsableKey()
    ? `There is no API key: every call is answered 401. ${howToMakeOne}`
    : null;
