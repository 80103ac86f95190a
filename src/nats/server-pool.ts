import { createHash, randomBytes } from "node:crypto";
import type { NatsConnection } from "nats";

/**
 * The servers that a client may go to, the next one first. The client's own: it has no public way to say where to go
 * next, forgets a server that was away when it first connected, and goes back once to the server that it is leaving.
 * Its version is pinned; a client that looks otherwise inside is left alone.
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

/** After the first connection: puts every server back that the settings name, and the present one behind the others. */
export function completePool(nats: NatsConnection, named: readonly string[]): void {
  const pool = poolOf(nats);
  if (pool === null) return;
  const known = new Set(pool.servers.map(({ listen }) => listen));
  for (const url of named) {
    if (!known.has(placeOfServer(url))) pool.addServer(url);
  }
  const index = pool.servers.findIndex(({ listen }) => listen === nats.getServer());
  pool.servers.push(...pool.servers.splice(Math.max(index, 0), 1));
}

/** Where the client may go, as `host:port`: the servers that the settings name, or those that a single one tells of. */
export function serversOf(nats: NatsConnection): readonly string[] {
  const servers = poolOf(nats)?.servers ?? [];
  const named = servers.filter(({ gossiped }) => !gossiped);
  return (named.length > 1 ? named : servers).map(({ listen }) => listen);
}

/** The client goes there first when it connects again. */
export function goNextTo(nats: NatsConnection, place: string): void {
  const servers = poolOf(nats)?.servers ?? [];
  const index = servers.findIndex(({ listen }) => listen === place);
  const [server] = index > 0 ? servers.splice(index, 1) : [];
  if (server !== undefined) servers.unshift(server);
}

/** `host:port` of `nats://user:password@host:port`, and without what is secret in it. */
export function placeOfServer(url: string): string {
  const place = url
    .trim()
    .replace(/^.*:\/\//, "")
    .replace(/^.*@/, "")
    .replace(/\/+$/, "");
  return /:\d+$/.test(place) ? place : `${place}:4222`;
}

/**
 * Puts servers into an order that is this process's own, and always the same: where every process is with the first of
 * its order that is to be had, all of them are spread over what there is, and only those move that have to.
 */
export function createPreference(): (places: readonly string[]) => readonly string[] {
  const seed = randomBytes(8);
  const rankOf = (place: string): string =>
    createHash("sha256").update(seed).update(placeOfServer(place)).digest("hex");
  return (places) => [...places].sort((one, other) => rankOf(one).localeCompare(rankOf(other)));
}
