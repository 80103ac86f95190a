import type { MailingVersion } from "../commands/read-version.ts";
import type { MailingPart } from "../domain/mailing/events.ts";
import { type JobRef, keyOf } from "../event-log/event-log.ts";
import type { AddressSet } from "./address-set.ts";

/** A mailing as it was once, and the addresses of its parts at that time. */
export type Known = { readonly version: MailingVersion; readonly addresses: AddressSet };

export type KnownAddresses = {
  /**
   * Takes out what is known of a mailing, null if nothing is. It is the import's own from now on: one that breaks off has
   * put addresses into it that no part has.
   */
  take(mailing: JobRef): Known | null;
  /** Keeps it for the next import. */
  keep(mailing: JobRef, known: Known): void;
};

const keptMs = 60_000;
const mostMailings = 100;
/** Some 1.5 million addresses. A mailing with more is read again for each import. */
const usualMostBytes = 32 * 1024 * 1024;

/**
 * The addresses of the mailings that this process has imported into within a minute. Without them, an application that adds
 * its list page by page would have each page read what all the pages before it have stored: the 200th page of a thousand took
 * a second of CPU. The parts of a draft are only ever added to, and their recipients stay as they are, so what is known of
 * the first ones stays true, also where another process has added more.
 */
export function createKnownAddresses(mostBytes = usualMostBytes): KnownAddresses {
  type Kept = Known & { readonly timer: NodeJS.Timeout };
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
    take: (mailing) => drop(keyOf(mailing)),
    keep: (mailing, known) => {
      const key = keyOf(mailing);
      drop(key);
      const timer = setTimeout(() => kept.delete(key), keptMs).unref();
      kept.set(key, { ...known, timer });
      for (const eldest of kept.keys()) {
        if (kept.size <= mostMailings && bytes() <= mostBytes) break;
        drop(eldest);
      }
    },
  };
}

/** How many of the parts are known: none where the log has another history of the mailing than it had. */
export const knownOf = (known: Known | null, parts: readonly MailingPart[]): number => {
  const before = known === null || known.version.state.status === "absent" ? [] : known.version.state.parts;
  const last = before.at(-1)?.jobId;
  return last !== undefined && parts[before.length - 1]?.jobId === last ? before.length : 0;
};
