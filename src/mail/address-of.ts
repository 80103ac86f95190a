/** The address in `Name <address>`, or the whole of it. */
export const addressOf = (mailbox: string): string => /<([^<>]*)>\s*$/.exec(mailbox)?.[1] ?? mailbox.trim();
