import { signal } from "@preact/signals";
import type { Me, Scope } from "./api/answers.ts";

/** The tab's own storage: another tab asks for the key again, and closing the tab deletes it. */
const place = "waybill-key";

/** The API key, null for none. */
export const key = signal<string | null>(sessionStorage.getItem(place));

/** Null until the service has identified the caller. */
export const me = signal<Me | null>(null);

/** The reason for which the page asks for a key; null while it does not. */
export const keyWanted = signal<string | null>(null);

/** Whether the last key that was given is none of the service's. */
let isRefused = false;

/** No header carries another text: such a key cannot even be sent. */
export const isSendable = (text: string | null): boolean => text === null || /^[\x21-\x7e]*$/.test(text);

export function signIn(text: string): void {
  sessionStorage.setItem(place, text);
  key.value = text;
  keyWanted.value = null;
  isRefused = false;
}

/** How often another caller has come: one has signed out, or the key is another tenant's. What is kept is not for the next one. */
export const callersGone = signal(0);

let tenant: string | null = null;
me.subscribe((caller) => {
  if (caller === null) return;
  if (tenant !== null && tenant !== caller.tenant) callersGone.value += 1;
  tenant = caller.tenant;
});

export function signOut(): void {
  callersGone.value += 1;
  sessionStorage.removeItem(place);
  key.value = null;
  me.value = null;
  isRefused = false;
  keyWanted.value = "You are signed out.";
}

/**
 * Called on every 401, from any request, with the key that it had: a key may be revoked at any time. A service that has no
 * keys any more refuses one, too, and answers without: so the page asks for a key once a request without one is refused.
 */
export function keyRefused(refused: string | null): void {
  // An answer that comes late is about a key that the page no longer has.
  if (refused !== key.value) return;
  me.value = null;
  if (refused === null) {
    keyWanted.value = isRefused ? "The service does not accept this key." : "This service asks for an API key.";
    return;
  }
  isRefused = true;
  sessionStorage.removeItem(place);
  key.value = null;
}

export const can = (scope: Scope): boolean => me.value?.scopes.includes(scope) ?? false;

/** Whether the service catches its mail itself; the page's HTML says so. */
export const hasMailbox = document.documentElement.dataset["mailbox"] === "true";
