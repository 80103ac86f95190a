import { domainToASCII } from "node:url";

/** An address or a domain as senders are compared: lower case, the domain in its ASCII form. Empty where it is neither. */
export function normalisedSender(text: string): string {
  const at = text.lastIndexOf("@");
  const domain = domainToASCII(text.slice(at + 1));
  if (domain === "" || (!domain.includes(".") && at <= 0)) return "";
  return at <= 0 ? domain : `${text.slice(0, at).toLowerCase()}@${domain}`;
}

/** Whether an address is one of the senders, or in a domain that is one. A domain does not stand for those below it. */
export function isSenderAllowed(address: string, senders: readonly string[]): boolean {
  const sender = normalisedSender(address);
  const domain = sender.slice(sender.lastIndexOf("@") + 1);
  return sender.includes("@") && senders.some((one) => one === sender || one === domain);
}
