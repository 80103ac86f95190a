import { BlockList, isIPv6 } from "node:net";

const local = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const) {
  local.addSubnet(network, prefix, "ipv4");
}
for (const [network, prefix] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
] as const) {
  local.addSubnet(network, prefix, "ipv6");
}

/** Whether receivers elsewhere can see this address. */
export const isPublicAddress = (address: string): boolean => !local.check(address, isIPv6(address) ? "ipv6" : "ipv4");
