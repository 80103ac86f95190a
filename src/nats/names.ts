/** A tenant, a job id and a prefix are each one token of a subject: no dots, wildcards, spaces, nor anything to escape. */
const token = /^[A-Za-z0-9_-]+$/;

/** Throws if the value cannot be one token; `what` names it in the error. */
export function tokenOf(value: string, what: string): string {
  if (token.test(value)) return value;
  throw new Error(`The ${what} is ${JSON.stringify(value)}; expected letters, digits, _ and - only`);
}

/**
 * The name of a stream, a bucket or an object store of one of several services that share a NATS, each with its prefix.
 */
export const nameWith = (prefix: string, name: string): string =>
  prefix === "" ? name : `${tokenOf(prefix, "prefix")}_${name}`;

/** The start of every subject of one of several services that share a NATS. */
export const startOf = (prefix: string): string => (prefix === "" ? "" : `${tokenOf(prefix, "prefix")}.`);
