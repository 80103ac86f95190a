import type { DefaultRouteRules, MailRoute } from "./mail-route.ts";

/** A route as it is stored: of the default one only what is not a setting. */
export type StoredRoute =
  | ({ readonly kind: "account" } & MailRoute)
  | ({ readonly kind: "default"; readonly name: string } & DefaultRouteRules);

/** What is stored of the routes. Methods throw Unavailable. An entry that cannot be read counts as none. */
export interface MailRouteStore {
  /** Whether passwords are encrypted. */
  readonly isSealed: boolean;
  /** Stores what `toNext` returns, unless that is null. Calls it again if another process changed the entry meanwhile. */
  change(
    name: string,
    toNext: (before: StoredRoute | null) => StoredRoute | null,
  ): Promise<{ readonly before: StoredRoute | null; readonly next: StoredRoute | null }>;
  /** Returns whether there was anything to remove. */
  remove(name: string): Promise<boolean>;
}
