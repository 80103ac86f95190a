import type { NatsConnection } from "nats";

/**
 * The servers that a client may go to, the next one first. The client's own: it forgets a server that was away when it
 * first connected. Its version is pinned; a client that looks otherwise inside is left alone.
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

/** Puts every server back that the settings name. */
export function completePool(nats: NatsConnection, named: readonly string[]): void {
  const pool = poolOf(nats);
  if (pool === null) return;
  const known = new Set(pool.servers.map(({ listen }) => listen));
  for (const url of named) {
    if (!known.has(placeOfServer(url))) pool.addServer(url);
  }
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
