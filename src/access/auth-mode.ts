import { isLoopback } from "../domain/loopback.ts";
import type { KeyRing } from "./key-ring.ts";

export const authModes = ["auto", "required", "off"] as const;

/** Whether callers need a key. `auto` requires one once a key exists, or if the API can be reached from other machines. */
export type AuthMode = (typeof authModes)[number];

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

/** Why the API must not start, in words for the operator; null if it may. */
export const whyNotToStart = (mode: AuthMode, host: string, ring: Pick<KeyRing, "hasUsableKey">): string | null =>
  mode === "auto" && !isLoopback(host) && !ring.hasUsableKey()
    ? `There is no API key, and HOST is ${JSON.stringify(host)}, which others can reach. ${howToMakeOne}`
    : null;

/** A warning for the log of a service that starts and cannot admit any caller yet. */
export const noKeyYet = (mode: AuthMode, ring: Pick<KeyRing, "hasUsableKey">): string | null =>
  mode === "required" && !ring.hasUsableKey()
    ? `There is no API key: every call is answered 401. ${howToMakeOne}`
    : null;
