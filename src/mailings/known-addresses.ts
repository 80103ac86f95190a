import type { MailingPart } from "../domain/mailing/events.ts";
import { type JobRef, keyOf } from "../event-log/event-log.ts";
import type { AddressSet } from "./address-set.ts";

/** The addresses of the first parts of a mailing. */
export type Known = { readonly addresses: AddressSet; readonly parts: number };

export type KnownAddresses = {
  /**
   * Takes out what is known of a mailing with these parts, null if nothing is. It is the import's own from now on: one that
   * breaks off has put addresses into it that no part has.
   */
  take(mailing: JobRef, parts: readonly MailingPart[]): Known | null;
  /** Keeps the addresses of all these parts for the next import. */
  keep(mailing: JobRef, parts: readonly MailingPart[], addresses: AddressSet): void;
};

const keptMs = 60_000;
/** Some 1.5 million addresses. A mailing with more is read again for each import. */
const usualMostBytes = 32 * 1024 * 1024;

/**
 * The addresses of the mailings that this process has imported into within a minute. Without them, an application that adds
 * its list page by page would have each page read what all the pages before it have stored: 200 pages of a thousand took a
 * second of CPU each. The parts of a draft are only ever added to, and their recipients stay as they are, so what is known of
 * the first ones stays true, also where another process has added more.
 */
export function createKnownAddresses(mostBytes = usualMostBytes): KnownAddresses {
  type Kept = Known & { readonly last: string; readonly timer: NodeJS.Timeout };
  /** Those kept last come last. */
  const kept = new Map<string, Kept>();

  const drop = (key: string): Kept | null => {
    const dropped = kept.get(key) ?? null;
    clearTimeout(dropped?.timer);
    kept.delete(key);
    return dropped;
  };
  const bytes = (): number => [...kept.values()].reduce((sum, { addresses }) => sum + addresses.bytes, 0);

  return {
    take: (mailing, parts) => {
      const known = drop(keyOf(mailing));
      return known !== null && parts[known.parts - 1]?.jobId === known.last ? known : null;
    },
    keep: (mailing, parts, addresses) => {
      const last = parts.at(-1)?.jobId;
      if (last === undefined) return;
      const key = keyOf(mailing);
      drop(key);
      const timer = setTimeout(() => kept.delete(key), keptMs).unref();
      kept.set(key, { addresses, parts: parts.length, last, timer });
      for (const eldest of kept.keys()) {
        if (bytes() <= mostBytes) break;
        drop(eldest);
      }
    },
  };
}
