import { createHash, randomBytes } from "node:crypto";
import type { NatsConnection } from "nats";

/**
 * The client's list of servers, the next one first. It is internal: the client has no public way to choose the next
 * server, forgets a server that was away at the first connect, and returns once to the server that it is leaving. Its
 * version is pinned; a client with other internals is left alone.
 */
type Pool = {
  readonly servers: { readonly listen: string; readonly gossiped: boolean }[];
  addServer(url: string): void;
};

function poolOf(nats: NatsConnection): Pool | null {
  const { protocol } = nats as { readonly protocol?: { readonly servers?: Partial<Pool> } };
  const pool = protocol?.servers;
  return Array.isArray(pool?.servers) && typeof pool.addServer === "function" ? (pool as Pool) : null;
}

/** After the first connect: restores every server that the settings name, and moves the current one to the end. */
export function completePool(nats: NatsConnection, named: readonly string[]): void {
  const pool = poolOf(nats);
  if (pool === null) return;
  const known = new Set(pool.servers.map(({ listen }) => listen));
  for (const url of named) {
    if (!known.has(addressOfServer(url))) pool.addServer(url);
  }
  const index = pool.servers.findIndex(({ listen }) => listen === nats.getServer());
  pool.servers.push(...pool.servers.splice(Math.max(index, 0), 1));
}

/** The candidates, as `host:port`: the servers that the settings name, or those that a single named server reports. */
export function serversOf(nats: NatsConnection): readonly string[] {
  const servers = poolOf(nats)?.servers ?? [];
  const named = servers.filter(({ gossiped }) => !gossiped);
  return (named.length > 1 ? named : servers).map(({ listen }) => listen);
}

/** Makes this server the first one at the next reconnect. */
export function goNextTo(nats: NatsConnection, address: string): void {
  const servers = poolOf(nats)?.servers ?? [];
  const index = servers.findIndex(({ listen }) => listen === address);
  const [server] = index > 0 ? servers.splice(index, 1) : [];
  if (server !== undefined) servers.unshift(server);
}

/** `host:port` of `nats://user:password@host:port`, without the secrets. */
export function addressOfServer(url: string): string {
  const address = url
    .trim()
    .replace(/^.*:\/\//, "")
    .replace(/^.*@/, "")
    .replace(/\/+$/, "");
  return /:\d+$/.test(address) ? address : `${address}:4222`;
}

/**
 * Sorts servers into an order that is specific to this process, and stable. If every process uses the first available
 * server of its order, the processes spread over the available servers, and only those move that have to.
 */
export function createPreference(): (addresses: readonly string[]) => readonly string[] {
  const seed = randomBytes(8);
  const rankOf = (address: string): string =>
    createHash("sha256").update(seed).update(addressOfServer(address)).digest("hex");
  return (addresses) => [...addresses].sort((one, other) => rankOf(one).localeCompare(rankOf(other)));
}
