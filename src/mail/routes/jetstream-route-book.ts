import { type BucketSettings, openBucket } from "../../nats/bucket.ts";
import type { JetStreamConnection } from "../../nats/connection.ts";
import { type BucketEntry, followBucket } from "../../nats/follow-bucket.ts";
import type { Sealing } from "../../secrets/sealing.ts";
import { bucketOfRoutes } from "./jetstream-mail-route-store.ts";
import { defaultRoute, type MailRoute } from "./mail-route.ts";
import type { StoredRoute } from "./mail-route-store.ts";
import { type DefaultAccount, type RouteBook, routesOf } from "./route-book.ts";
import { decodeRoute } from "./route-records.ts";

export type RunningRouteBook = RouteBook & { stop(): Promise<void> };

/** Every worker polls; changes are announced. */
const knownWithinMs = 30_000;

/**
 * Follows the bucket of routes. Returns once everything has been read. An entry that cannot be read is reported and left
 * out; the other routes work.
 */
export async function createJetStreamRouteBook(
  connection: JetStreamConnection,
  settings: BucketSettings,
  sealing: Sealing,
  account: Omit<DefaultAccount, "name">,
  report: (failure: unknown) => void,
): Promise<RunningRouteBook> {
  await openBucket(connection, bucketOfRoutes, settings);
  const listeners = new Set<() => void>();
  const ofDefault = { name: defaultRoute, ...account };
  let routes: readonly MailRoute[] = [];
  let unreadable = new Map<string, string>();
  const read = (entries: readonly BucketEntry[]): boolean => {
    const stored: StoredRoute[] = [];
    unreadable = new Map();
    for (const { name, text } of entries) {
      try {
        const route = decodeRoute(sealing, name, text);
        if (route !== null) stored.push(route);
      } catch (failure) {
        unreadable.set(name, failure instanceof Error ? failure.message : String(failure));
        report(failure);
      }
    }
    routes = routesOf(ofDefault, stored).filter(({ name }) => !unreadable.has(name));
    for (const changed of [...listeners]) changed();
    // Its key may come a moment after it.
    return unreadable.size === 0;
  };
  const { refresh, stop } = await followBucket(
    connection,
    { bucket: bucketOfRoutes, prefix: settings.prefix, knownWithinMs },
    read,
    report,
  );
  return {
    routes: () => routes,
    unreadable: () => unreadable,
    refresh,
    onChange: (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    stop,
  };
}
