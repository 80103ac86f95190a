import { isIPv6 } from "node:net";

/** Reads a setting, null where there is none. */
type Reader = {
  readonly raw: (name: string) => string | null;
  readonly list: (
    name: string,
    rule: { isItem: (item: string) => boolean; expected: string },
  ) => readonly string[] | null;
};

/** The servers, and how to log in there; null where no server is named. */
export function readNatsSettings({ raw, list }: Reader) {
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
  };
}

/** The client takes the host and the port of an address and drops the rest: a password in it would not be shown to the server. */
function isServer(text: string): boolean {
  const [, place = ""] = /^(?:(?:nats|tls):\/\/)?([^/@?#\s]+)\/?$/.exec(text) ?? [];
  if (isIPv6(place)) return true;
  if (!URL.canParse(`http://${place}`)) return false;
  // Port 80 is none to `http:`; the client asks for 4222 where there is none.
  const { port, hostname } = new URL(`http://${place}`);
  return hostname !== "" && port !== "0";
}
