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

export function signIn(text: string): void {
  sessionStorage.setItem(place, text);
  key.value = text;
  keyWanted.value = null;
}

export function signOut(): void {
  sessionStorage.removeItem(place);
  key.value = null;
  me.value = null;
  keyWanted.value = "You are signed out.";
}

/** Called on every 401, from any request: a key may be revoked at any time. */
export function keyRefused(): void {
  me.value = null;
  keyWanted.value = key.value === null ? "This service asks for an API key." : "The service does not accept this key.";
  sessionStorage.removeItem(place);
  key.value = null;
}

export const can = (scope: Scope): boolean => me.value?.scopes.includes(scope) ?? false;

/** Whether the service catches its mail itself; the page's HTML says so. */
export const hasMailbox = document.documentElement.dataset["mailbox"] === "true";
