/**
 * Temporary errors of the server: another transaction was in the way (1020, 1205, 1213), it is shutting down, out of
 * connections or prepared statements, without the other nodes of its cluster, or read-only at the moment (1040, 1047, 1053,
 * 1077, 1203, 1290, 1461, 1792, 1836), a disk of its is full, which may be that for temporary files alone (3, 1021, 1026,
 * 1030, 1114), it ended the statement or the connection (1158 to 1161, 1317, 1927, 1969, 3024, 4031), or an
 * administrator is changing accounts or tables (1044, 1045, 1049, 1146, 1615).
 */
const passing: ReadonlySet<number> = new Set([
  3, 1020, 1021, 1026, 1030, 1047, 1040, 1044, 1045, 1049, 1053, 1077, 1114, 1146, 1158, 1159, 1160, 1161, 1203, 1205,
  1213, 1290, 1317, 1461, 1615, 1792, 1836, 1927, 1969, 3024, 4031,
]);

const unreachable: ReadonlySet<string> = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "PROTOCOL_CONNECTION_LOST",
]);

/** The database is away or in trouble, and the same statement may well succeed later. */
export function isDatabaseTrouble(failure: unknown): boolean {
  if (!(failure instanceof Error)) return false;
  const { fatal, code, errno, name } = failure as Error & { fatal?: unknown; code?: unknown; errno?: unknown };
  return (
    // The driver marks failures that ended the connection, sometimes without a code.
    fatal === true ||
    name === "KnexTimeoutError" ||
    (typeof code === "string" && unreachable.has(code)) ||
    (typeof errno === "number" && passing.has(errno))
  );
}

/** Errors of the server, by their numbers, that mean something of their own to those who ask. */
const serverErrors = { duplicateKeyName: 1061, noSuchTable: 1146, lockWaitTimeout: 1205 } as const;

export const isServerError = (failure: unknown, which: keyof typeof serverErrors): boolean =>
  (failure as { readonly errno?: unknown }).errno === serverErrors[which];
