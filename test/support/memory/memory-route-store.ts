import { defaultRoute } from "../../../src/mail/routes/mail-route.ts";
import type { MailRouteStore, StoredRoute } from "../../../src/mail/routes/mail-route-store.ts";
import { type RouteBook, routesOf } from "../../../src/mail/routes/route-book.ts";

/** The store and the book of a service whose changes are known at once. */
export function createMemoryRouteStore() {
  const stored = new Map<string, StoredRoute>();
  const listeners = new Set<() => void>();
  const account = { name: defaultRoute, url: "smtp://127.0.0.1:25", connections: 10, rate: null };
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const book: RouteBook = {
    routes: () => routesOf(account, [...stored.values()]),
    unreadable: () => new Map(),
    refresh: async () => {},
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const all = {
    book,
    isSealed: true,
    get store(): MailRouteStore {
      return {
        isSealed: all.isSealed,
        change: async (name, toNext) => {
          const before = stored.get(name) ?? null;
          const next = toNext(before);
          if (next !== null) stored.set(name, next);
          changed();
          return { before, next };
        },
        remove: async (name) => {
          const wasThere = stored.delete(name);
          changed();
          return wasThere;
        },
      };
    },
  };
  return all;
}
