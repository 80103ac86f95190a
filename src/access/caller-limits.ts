import { domainToASCII } from "node:url";
import { addressOf } from "../domain/recipients/address.ts";
import type { CallerLimits } from "../domain/tenant.ts";
import { type AuthMode, asksForKeys } from "./auth-mode.ts";
import type { KeyRing } from "./key-ring.ts";

export type LimitsSettings = {
  readonly mode: AuthMode;
  readonly host: string;
  /** The default sender, with or without a name. Every tenant may use it. */
  readonly mailFrom: string;
};

/**
 * The limits of a tenant, as they are known now. Without keys there is one tenant, whose operator is the only caller: it
 * may name any sender unless rules forbid it.
 */
export function createLimits(
  ring: KeyRing,
  { mode, host, mailFrom }: LimitsSettings,
): (tenant: string) => CallerLimits {
  const ownSender = normalisedSender(addressOf(mailFrom));
  return (tenant) => {
    const { senders, dailyRecipients, approvalAbove } = ring.rulesOf(tenant);
    const isAnyAllowed = senders === null && !asksForKeys(mode, host, ring);
    return { senders: isAnyAllowed ? null : [ownSender, ...(senders ?? [])], dailyRecipients, approvalAbove };
  };
}

/** An address or a domain in the form in which senders are compared: lower case, the domain in ASCII. Empty if it is neither. */
export function normalisedSender(text: string): string {
  const at = text.lastIndexOf("@");
  const domain = domainToASCII(text.slice(at + 1));
  if (domain === "" || (!domain.includes(".") && at <= 0)) return "";
  return at <= 0 ? domain : `${text.slice(0, at).toLowerCase()}@${domain}`;
}

/** Whether an address is one of the senders, or belongs to a domain that is one. A domain does not include its subdomains. */
export function isSenderAllowed(address: string, senders: readonly string[]): boolean {
  const sender = normalisedSender(address);
  const domain = sender.slice(sender.lastIndexOf("@") + 1);
  return sender.includes("@") && senders.some((one) => one === sender || one === domain);
}
