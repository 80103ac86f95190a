import { leastBodyBudget } from "../../schemas/job-request.ts";

/** Limits the memory that the bodies of all requests of this process take, from before reading until the requests are done. */
export type BodyBudget = {
  /** The account of one request. The server always closes it in the end. */
  open(tenant: string): BodyAccount;
  /** Bytes of memory that are set aside at present. */
  held(): number;
  /** How many requests were refused so far. */
  refused(): number;
};

export type BodyAccount = {
  /** Sets memory aside for that many more bytes of the body; throws NoRoomForBody where none is left. */
  takeBytes(bytes: number): void;
  /** The same for the values of the body's JSON, before parsing. */
  takeValues(values: number): void;
  held(): number;
  /** Gives back the memory beyond that many bytes. */
  keep(bytes: number): void;
  /** Sets memory aside for an answer of that many bytes in place of the body; false where none is left. */
  keepAnswer(bytes: number): boolean;
  /** Gives back all of it; may be called more than once. */
  close(): void;
};

/** The server refused the request before it did any part of it. */
export class NoRoomForBody extends Error {
  override readonly name = "NoRoomForBody";
  /** This body would be too large even if no other request took memory. */
  readonly isForGood: boolean;

  constructor(isForGood: boolean) {
    super("No memory is left for the body of the request.");
    this.isForGood = isForGood;
  }
}

/**
 * A byte of a body takes memory as received, decoded, parsed, and once more as what the route makes of it: measured were
 * 3.6 to 5.6 bytes with attachments of 5 MB, and 4.2 for dry runs.
 */
const costOfByte = 6;
/** The measured cost of each value in a body of nothing but `{}`; no other value costs as much. */
const costOfValue = 115;
/** Bodies up to this size also have a share of their own: a handful of large ones must not keep them away. */
const smallCost = 64 * 1024 * costOfByte;

/**
 * An eighth of `bytes` is for small bodies alone. Of the rest a tenant gets three quarters at most, so that its bodies,
 * however slowly it sends them, do not keep out those of other tenants.
 */
export function createBodyBudget(bytes: number): BodyBudget {
  const forLarge = Math.floor((bytes * 7) / 8);
  const forTenant = Math.max(Math.floor((forLarge * 3) / 4), Math.floor((leastBodyBudget * 7) / 8));
  const byTenant = new Map<string, number>();
  let held = 0;
  let refused = 0;

  const add = (tenant: string, cost: number): void => {
    held += cost;
    const now = (byTenant.get(tenant) ?? 0) + cost;
    if (now > 0) byTenant.set(tenant, now);
    else byTenant.delete(tenant);
  };
  const isRoom = (tenant: string, whole: number, more: number): boolean => {
    if (whole <= smallCost) return held + more <= bytes;
    return held + more <= forLarge && (byTenant.get(tenant) ?? 0) + more <= forTenant;
  };

  return {
    open: (tenant) => {
      let own = 0;
      const take = (cost: number): void => {
        if (!isRoom(tenant, own + cost, cost)) {
          refused += 1;
          throw new NoRoomForBody(own + cost > forTenant);
        }
        own += cost;
        add(tenant, cost);
      };
      const keep = (cost: number): void => {
        const kept = Math.min(own, cost);
        add(tenant, kept - own);
        own = kept;
      };
      return {
        takeBytes: (count) => take(count * costOfByte),
        takeValues: (count) => take(count * costOfValue),
        held: () => own,
        keep,
        keepAnswer: (bytes) => {
          keep(bytes);
          const more = bytes - own;
          // No wait makes room for an answer that is larger than the whole budget.
          if (more === 0 || bytes > forTenant) return true;
          if (!isRoom(tenant, bytes, more)) {
            refused += 1;
            return false;
          }
          own += more;
          add(tenant, more);
          return true;
        },
        close: () => keep(0),
      };
    },
    held: () => held,
    refused: () => refused,
  };
}
