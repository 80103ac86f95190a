import { leastBodyBudget } from "../../schemas/job-request.ts";

/** What the bodies of all requests of this process may cost in memory together, from before they are read until their requests are done. */
export type BodyBudget = {
  /** The account of one request. It is closed in the end, whatever happens. */
  open(tenant: string): BodyAccount;
  /** Bytes of memory that are set aside now. */
  held(): number;
  /** How many requests were refused so far. */
  refused(): number;
};

export type BodyAccount = {
  /** Sets memory aside for so many bytes more of the body; throws NoRoomForBody where there is none left. */
  takeBytes(bytes: number): void;
  /** The same for the values of its JSON, before it is parsed. */
  takeValues(values: number): void;
  held(): number;
  /** Gives back what was taken beyond so many bytes of memory. */
  keep(bytes: number): void;
  /** Gives back all that was taken; may come more than once. */
  close(): void;
};

/** Nothing of the request was done. */
export class NoRoomForBody extends Error {
  override readonly name = "NoRoomForBody";
  /** This body would be too much even with nothing else in hand. */
  readonly isForGood: boolean;

  constructor(isForGood: boolean) {
    super("There is no memory left for the body of the request.");
    this.isForGood = isForGood;
  }
}

/**
 * A byte of a body is there as it came, decoded, parsed, and once more as what is made of it: 3.6 to 5.6 bytes of memory
 * were measured with attachments of 5 MB, and 4.2 for dry runs.
 */
const costOfByte = 6;
/** What a body of nothing but `{}` was measured to cost for each, and what no other value costs. */
const costOfValue = 115;
/** Bodies up to here are served from a share of their own, too: a handful of large ones must not keep them away. */
const smallCost = 64 * 1024 * costOfByte;

/**
 * An eighth of `bytes` is for small bodies alone. Of the rest a tenant has three quarters at most, so that its bodies,
 * be they sent as slowly as the server bears, do not keep out those of others.
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
        close: () => keep(0),
      };
    },
    held: () => held,
    refused: () => refused,
  };
}
