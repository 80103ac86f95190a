import { addressOf } from "../domain/recipients/address.ts";
import type { CallerLimits } from "../domain/tenant.ts";
import { type AuthMode, asksForKeys } from "./auth-mode.ts";
import type { KeyRing } from "./key-ring.ts";
import { normalisedSender } from "./senders.ts";

export type LimitsSettings = {
  readonly mode: AuthMode;
  readonly host: string;
  /** The default sender, with or without a name: everybody may use it. */
  readonly mailFrom: string;
};

/**
 * What was laid down for a tenant, as it is known now. Without keys there is one tenant, whose operator is the only
 * caller: it may name any sender unless rules say so.
 */
export function createLimits(
  ring: KeyRing,
  { mode, host, mailFrom }: LimitsSettings,
): (tenant: string) => CallerLimits {
  const ownSender = normalisedSender(addressOf(mailFrom));
  return (tenant) => {
    const { senders, dailyRecipients } = ring.rulesOf(tenant);
    const isAnyAllowed = senders === null && !asksForKeys(mode, host, ring);
    return { senders: isAnyAllowed ? null : [ownSender, ...(senders ?? [])], dailyRecipients };
  };
}
