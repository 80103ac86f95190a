import type { DkimKey, DkimSettings } from "./dkim.ts";
import { domainOf } from "./domain-of.ts";

/** The keys that sign the mails of one sender, at this moment. */
export type KeysAt = (moment: Date) => readonly DkimKey[];

/**
 * The keys in force for the domain of the From address: those of the domain itself, otherwise of the nearest domain above
 * it (relaxed alignment, RFC 7489 3.1.1), otherwise the fallback. Of each type, the newest key whose date has come
 * signs; an RSA and an Ed25519 key sign side by side. Null if no key will ever sign.
 */
export function keysOfSender({ keys, fallback }: DkimSettings, from: string): KeysAt | null {
  const sender = domainOf(from);
  const keysAt = (moment: number): readonly DkimKey[] => {
    const due = keys.filter((key) => isAligned(sender, key.domain) && startOf(key) <= moment);
    const nearest = Math.max(...due.map(({ domain }) => domain.length));
    const own = due.filter(({ domain }) => domain.length === nearest);
    const inForce = [newest(own, "rsa"), newest(own, "ed25519")].filter((key) => key !== null);
    return inForce.length > 0 || fallback === null ? inForce : [fallback];
  };
  const dates = keys.filter(({ domain }) => isAligned(sender, domain)).map(startOf);
  // What signs changes at these moments only, so that a mail costs no more than the choice among them.
  const stretches = [...new Set([Number.NEGATIVE_INFINITY, ...dates])]
    .sort((one, other) => other - one)
    .map((start) => ({ start, keys: keysAt(start) }));
  if (stretches.every((stretch) => stretch.keys.length === 0)) return null;
  return (moment) => stretches.find(({ start }) => start <= moment.getTime())?.keys ?? [];
}

const isAligned = (sender: string, domain: string): boolean => sender === domain || sender.endsWith(`.${domain}`);

const startOf = ({ from }: DkimKey): number => from?.getTime() ?? Number.NEGATIVE_INFINITY;

function newest(keys: readonly DkimKey[], type: "rsa" | "ed25519"): DkimKey | null {
  const ofType = keys.filter(({ privateKey }) => privateKey.asymmetricKeyType === type);
  return ofType.reduce<DkimKey | null>((best, key) => (best && startOf(best) > startOf(key) ? best : key), null);
}
