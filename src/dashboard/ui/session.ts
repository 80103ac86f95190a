import { signal } from "@preact/signals";
import type { Me, Scope } from "./api/answers.ts";

/** The tab's own: another tab asks again, and nothing is left when it is closed. */
const place = "waybill-key";

/** The API key, null for none. */
export const key = signal<string | null>(sessionStorage.getItem(place));

/** Null until the service has said who asks. */
export const me = signal<Me | null>(null);

/** Why a key is asked for, in words; null while none is. */
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

/** Called on every 401, whichever request met it: a key may be revoked at any time. */
export function keyRefused(): void {
  me.value = null;
  keyWanted.value = key.value === null ? "This service asks for an API key." : "The service does not accept this key.";
  sessionStorage.removeItem(place);
  key.value = null;
}

export const can = (scope: Scope): boolean => me.value?.scopes.includes(scope) ?? false;

/** Whether the service catches its mail itself: the page says so. */
export const hasMailbox = document.documentElement.dataset["mailbox"] === "true";
