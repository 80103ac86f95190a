import { isIPv6 } from "node:net";
import type { SettingReader } from "./setting-reader.ts";

/** The servers and the credentials for them; null if no server is named. */
export function readNatsSettings({ raw, list }: SettingReader) {
  const servers = list("NATS_URL", {
    isItem: isServer,
    expected:
      "nats://host:port or tls://host:port, several with commas; user and password go into NATS_USER and NATS_PASSWORD",
  });
  if (servers === null) return null;
  return {
    servers,
    user: raw("NATS_USER"),
    password: raw("NATS_PASSWORD"),
    credsFile: raw("NATS_CREDS"),
    caFile: raw("NATS_TLS_CA"),
    /** Whether Waybill started the server itself. */
    isOwn: false,
  };
}

/** The NATS client uses only host and port of an address: a password in it would never reach the server. */
function isServer(text: string): boolean {
  const [, place = ""] = /^(?:(?:nats|tls):\/\/)?([^/@?#\s]+)\/?$/.exec(text) ?? [];
  if (isIPv6(place)) return true;
  if (!URL.canParse(`http://${place}`)) return false;
  // URL drops port 80 for `http:`, so an empty port is valid; without a port the client connects to 4222.
  const { port, hostname } = new URL(`http://${place}`);
  return hostname !== "" && port !== "0";
}

export function readPrefix(read: SettingReader): string {
  const prefix = read.text("NATS_PREFIX", "");
  if (!/^[A-Za-z0-9_-]{0,32}$/.test(prefix)) {
    read.fault("NATS_PREFIX", prefix, "at most 32 letters, digits, _ and -");
  }
  return prefix;
}
