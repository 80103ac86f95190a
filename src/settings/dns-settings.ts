import { isIP } from "node:net";
import type { SettingReader } from "./setting-reader.ts";

export const readDnsServers = (read: SettingReader): readonly string[] | null =>
  read.list("DNS_SERVERS", {
    isItem: isServer,
    expected: "addresses with commas between: 9.9.9.9 or [2620:fe::fe]:53",
  });

/** As node:dns takes them: an IPv6 address has brackets where a port follows. */
function isServer(item: string): boolean {
  if (isIP(item) !== 0) return true;
  const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(item) ?? [];
  const isAddress = isIP(bracketed ?? "") === 6 || isIP(plain ?? "") === 4;
  return isAddress && Number(port) >= 1 && Number(port) <= 65_535;
}
