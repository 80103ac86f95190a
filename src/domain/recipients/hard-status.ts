/**
 * RFC 3463 and its registry: no such mailbox, no such system, moved with no forwarding address, and a domain that accepts
 * no mail. Not a full or disabled mailbox, and no policy codes: those addresses may accept mail another time.
 */
const hard: ReadonlySet<string> = new Set(["5.1.1", "5.1.2", "5.1.6", "5.1.10"]);

/** Whether an enhanced status code says that the address accepts no mail, and will not. */
export const isHardStatus = (statusCode: string): boolean => hard.has(statusCode);
