import { addressOf } from "../../domain/recipients/address.ts";
import { type MailRoute, routesFor, usualRules } from "./mail-route.ts";
import type { StoredRoute } from "./mail-route-store.ts";

/** All routes, in the memory of this process, so that no mail waits for a request. A change is known here well within a second. */
export interface RouteBook {
  /** The same array until something changes. */
  routes(): readonly MailRoute[];
  /** Names of the routes whose entries cannot be read, with the reason: mails that need one wait. */
  unreadable(): ReadonlyMap<string, string>;
  /** Asks whether there are changes that are not known yet. Throws Unavailable. */
  refresh(): Promise<void>;
  onChange(changed: () => void): () => void;
}

/** The account of the default route: settings, which are the same in all processes. */
export type DefaultAccount = Pick<MailRoute, "name" | "url" | "connections" | "rate">;

/** The routes that these entries make, together with the default one. */
export function routesOf(account: DefaultAccount, stored: readonly StoredRoute[]): readonly MailRoute[] {
  const accounts = stored.flatMap((route) => (route.kind === "account" ? [toRoute(route)] : []));
  const rules = stored.find(({ kind }) => kind === "default") ?? usualRules;
  const { senders, tenants, order, weight } = rules;
  return [{ ...account, senders, tenants, order, weight }, ...accounts];
}

function toRoute({ kind: _, ...route }: Extract<StoredRoute, { kind: "account" }>): MailRoute {
  return route;
}

/** Routes that never change. */
export const fixedRoutes = (routes: readonly MailRoute[]): RouteBook => ({
  routes: () => routes,
  unreadable: () => new Map(),
  refresh: async () => {},
  onChange: () => () => {},
});

/** The names of the routes that a request may ask for; `from` is undefined where it names no sender. */
export type RoutesFor = (tenant: string, from: string | undefined) => readonly string[];

export const createRoutesFor =
  (book: Pick<RouteBook, "routes">, mailFrom: string): RoutesFor =>
  (tenant, from = mailFrom) =>
    routesFor(book.routes(), { tenant, sender: addressOf(from), route: null }).map(({ name }) => name);
