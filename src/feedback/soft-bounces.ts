import type { Instant } from "../domain/message.ts";
import type { AddressKey } from "../suppressions/suppression-store.ts";

/** One soft bounce, by the id of its event. */
export type SoftBounce = { readonly id: string; readonly at: Instant };

/** The soft bounces of addresses, which it names by their digests. It may be lost: counting then begins anew. */
export interface SoftBounceStore {
  /** Notes a bounce, and returns how many the address has had within the time. The same bounce counts once. Throws Unavailable. */
  note(key: AddressKey, bounce: SoftBounce): Promise<number>;
}

const dayMs = 24 * 60 * 60 * 1000;

/** What is kept of an address after another bounce: those of the last days before it. */
export function withBounce(before: readonly SoftBounce[], bounce: SoftBounce, days: number): readonly SoftBounce[] {
  if (before.some(({ id }) => id === bounce.id)) return before;
  const all = [...before, bounce];
  const newestMs = Math.max(...all.map(({ at }) => Date.parse(at)));
  return all.filter(({ at }) => Date.parse(at) > newestMs - days * dayMs);
}
