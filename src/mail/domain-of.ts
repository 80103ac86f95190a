import { domainToASCII } from "node:url";

/** The domain of an address, or a domain alone, in ASCII and lower case; empty for what is no domain. */
export const domainOf = (address: string): string => domainToASCII(address.slice(address.lastIndexOf("@") + 1));
