import { defaultRoute, type MailRoute, usualOrder, usualRules } from "./mail-route.ts";
import type { MailRouteStore, StoredRoute } from "./mail-route-store.ts";
import type { MailRouteRequest } from "./route-request.ts";

export type PutRoute =
  | { readonly outcome: "stored"; readonly isNew: boolean; readonly route: StoredRoute }
  | { readonly outcome: "not-found" | "url-missing" | "no-secrets-key" | "too-many" };

/** More would make each mail look through a long list. */
export const maxRoutes = 100;

const usualConnections = 10;

/**
 * Creates a route or changes it. With `isWhole` what the request leaves out gets its default, else it stays as it is. A
 * URL without a password keeps the stored one, as long as the user and the server are the same: what reads a route to
 * change it never sees the password. `others` is the number of other routes.
 */
export async function putRoute(
  store: MailRouteStore,
  name: string,
  request: MailRouteRequest,
  { isWhole, others }: { readonly isWhole: boolean; readonly others: number },
): Promise<PutRoute> {
  let refusal: Exclude<PutRoute, { outcome: "stored" }> | null = null;
  const refuse = (outcome: (typeof refusal & object)["outcome"]): null => {
    refusal = { outcome };
    return null;
  };
  const { before, next } = await store.change(name, (before) => {
    refusal = null;
    if (name === defaultRoute) return { kind: "default", name, ...rulesOf(request, isWhole ? null : before) };
    if (before === null && !isWhole) return refuse("not-found");
    if (before === null && others >= maxRoutes) return refuse("too-many");
    const route = accountOf(name, request, before?.kind === "account" ? before : null, isWhole);
    if (route === null) return refuse("url-missing");
    return hasPassword(route.url) && !store.isSealed ? refuse("no-secrets-key") : route;
  });
  if (next !== null) return { outcome: "stored", isNew: before === null && name !== defaultRoute, route: next };
  return refusal ?? { outcome: "not-found" };
}

type Account = Extract<StoredRoute, { kind: "account" }>;

function accountOf(name: string, request: MailRouteRequest, before: Account | null, isWhole: boolean): Account | null {
  const url = request.url === undefined ? before?.url : withPasswordOf(before?.url ?? null, request.url);
  if (url === undefined || (isWhole && request.url === undefined)) return null;
  const kept = isWhole ? null : before;
  return {
    kind: "account",
    name,
    url,
    connections: request.connections ?? kept?.connections ?? usualConnections,
    rate: request.rate === undefined ? (kept?.rate ?? null) : request.rate,
    ...rulesOf(request, kept ?? { ...usualRules, order: usualOrder }),
  };
}

function rulesOf(
  { senders, tenants, order, weight }: MailRouteRequest,
  kept: Pick<MailRoute, "senders" | "tenants" | "order" | "weight"> | null,
) {
  const { senders: from, tenants: of, order: at, weight: share } = kept ?? usualRules;
  return {
    senders: senders === undefined ? from : senders,
    tenants: tenants === undefined ? of : tenants,
    order: order ?? at,
    weight: weight ?? share,
  };
}

export const hasPassword = (url: string): boolean => new URL(url).password !== "";

/** The URL as it may be shown. */
export function withoutPassword(url: string): string {
  const shown = new URL(url);
  shown.password = "";
  return shown.href;
}

function withPasswordOf(before: string | null, url: string): string {
  if (before === null || hasPassword(url) || withoutPassword(before) !== withoutPassword(url)) return url;
  return before;
}
