import { setTimeout as pause } from "node:timers/promises";
import type { Bookkeeper } from "./bookkeeper.ts";
import type { HoldingBack } from "./holding-back.ts";
import type { Lease } from "./lease.ts";

/** The recipients of an attempt that wait until their receiver has room. They hold no connection, and no claim for long. */
export type Aside = {
  /** Puts aside those of the group that have to wait; returns the others. */
  sift(group: readonly number[]): readonly number[];
  /** Right before it is served: whether the recipient still may be. It is put aside otherwise, and keeps its claim. */
  mayBeServed(recipient: number): boolean;
  served(recipient: number): void;
  /** It was served, and its receiver has asked for patience: the next attempt tries it again, when there is room. */
  refused(recipient: number): void;
  refusedRecipients(): Iterable<number>;
  /** Takes back the claims of those that were put aside with one. */
  releaseClaims(): Promise<void>;
  /**
   * Those that wait and have room by now, at most so many. Those whose receiver needs no room any more are among `left`
   * again, as if they had not waited. Looks at most ten times a second, unless it found more than it was asked for.
   */
  withRoom(most: number): readonly number[];
  /**
   * Waits until some have room. None, where all would wait for long: then the turn ends, and others get its slot. `isOver`
   * ends the wait.
   */
  untilRoom(most: number, isOver: () => boolean, hurry: AbortSignal): Promise<readonly number[]>;
  /** How many wait, with those that were refused. */
  size(): number;
  /** Those that were not served. */
  recipients(): readonly number[];
  /** When to try again those that wait. */
  returnInMs(): number;
  /** Gives back all room. */
  end(): void;
};

const lookEveryMs = 100;
/** So many receivers are looked at each time. */
const looksAtOnce = 1000;
/** A turn waits no longer than `longestStayMs` for the next room; without a place to stay, `shortStayMs` altogether. */
const longestStayMs = 5000;
const shortStayMs = 1000;

type Recipients = {
  /** Those that are claimed, and certainly not handed over. */
  readonly notSent: Set<number>;
  /** Those that are not claimed yet. */
  readonly left: number[];
};

export function createAside(
  holding: HoldingBack | undefined,
  lease: Pick<Lease, "confirmLately">,
  books: Pick<Bookkeeper, "release">,
  { notSent, left }: Recipients,
): Aside {
  /** By receiver, in their order. */
  const waiting = new Map<string, number[]>();
  const refused = new Set<number>();
  const admitted = new Map<number, string>();
  const claimed = new Set<number>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let nextRoomMs = 0;
  let unplacedMs = 0;

  const wait = (recipient: number, receiver: string): void => {
    const others = waiting.get(receiver);
    if (others === undefined) waiting.set(receiver, [recipient]);
    else others.push(recipient);
  };
  const mayAllGo = (): boolean => holding === undefined || (waiting.size === 0 && holding.isFree());
  const admit = (recipient: number): boolean => {
    if (holding === undefined || mayAllGo() || admitted.has(recipient)) return true;
    const receiver = holding.receiverOf(recipient);
    // The others came first.
    const room = waiting.has(receiver) ? soonMs : holding.admit(receiver);
    if (room === null) return true;
    if (room === 0) admitted.set(recipient, receiver);
    else wait(recipient, receiver);
    return room === 0;
  };
  /** Takes from the list those that may go, and returns the milliseconds until there is room for another. */
  const look = (receiver: string, recipients: number[], most: number, found: number[]): number => {
    let count = 0;
    let room = 0;
    for (; count < recipients.length && found.length < most; count += 1) {
      const recipient = recipients[count] as number;
      // Its claim is taken back first: one that is claimed twice and released once would be sent without a claim.
      const next = claimed.has(recipient) ? soonMs : (holding?.admit(receiver) ?? null);
      room = next ?? 0;
      if (room > 0) break;
      if (next === null) left.push(recipient);
      else {
        admitted.set(recipient, receiver);
        found.push(recipient);
      }
    }
    recipients.splice(0, count);
    return room;
  };
  const withRoom = (most: number): number[] => {
    const found: number[] = [];
    if (waiting.size === 0 || performance.now() - lookedAt < lookEveryMs) return found;
    lookedAt = performance.now();
    nextRoomMs = Number.POSITIVE_INFINITY;
    for (const [receiver, recipients] of [...firstOf(waiting, looksAtOnce)]) {
      if (found.length >= most) break;
      const room = look(receiver, recipients, most, found);
      // Those that were looked at go to the end.
      waiting.delete(receiver);
      if (recipients.length === 0) continue;
      waiting.set(receiver, recipients);
      nextRoomMs = Math.min(nextRoomMs, room);
    }
    if (found.length >= most) lookedAt = Number.NEGATIVE_INFINITY;
    return found;
  };

  const aside: Aside = {
    sift: (group) => (mayAllGo() ? group : group.filter(admit)),
    mayBeServed: (recipient) => {
      if (admit(recipient)) return true;
      claimed.add(recipient);
      return false;
    },
    served: (recipient) => {
      const receiver = admitted.get(recipient);
      if (receiver === undefined) return;
      admitted.delete(recipient);
      holding?.leave(receiver);
    },
    refused: (recipient) => {
      refused.add(recipient);
    },
    refusedRecipients: () => refused,
    releaseClaims: async () => {
      // Another worker may own the claims once the lease is lost: see giveBackClaims.
      if (claimed.size === 0 || !(await lease.confirmLately())) return;
      const released = [...claimed].filter((recipient) => notSent.has(recipient));
      claimed.clear();
      await books.release(released);
      for (const recipient of released) notSent.delete(recipient);
    },
    withRoom,
    untilRoom: async (most, isOver, hurry) => {
      await aside.releaseClaims();
      const leave = holding?.stay() ?? null;
      const deadline = performance.now() + longestStayMs;
      try {
        while (waiting.size > 0 && !hurry.aborted && !isOver()) {
          const found = withRoom(most);
          if (found.length > 0) return found;
          if (performance.now() + nextRoomMs > deadline || unplacedMs > shortStayMs) return [];
          await pause(lookEveryMs, undefined, { signal: hurry }).catch(() => {});
          if (leave === null) unplacedMs += lookEveryMs;
        }
        return [];
      } finally {
        leave?.();
      }
    },
    size: () => [...waiting.values()].reduce((sum, { length }) => sum + length, refused.size),
    recipients: () => [...waiting.values()].flat(),
    returnInMs: () => {
      const counts = new Map([...waiting].map(([receiver, { length }]) => [receiver, length]));
      for (const recipient of refused) {
        const receiver = holding?.receiverOf(recipient) ?? "";
        counts.set(receiver, (counts.get(receiver) ?? 0) + 1);
      }
      const times = [...counts].map(([receiver, count]) => holding?.returnInMs(receiver, count) ?? 0);
      return times.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY);
    },
    end: () => {
      for (const recipient of admitted.keys()) aside.served(recipient);
    },
  };
  return aside;
}

const soonMs = 50;

function* firstOf<Key, Value>(map: ReadonlyMap<Key, Value>, most: number): Iterable<[Key, Value]> {
  let count = 0;
  for (const entry of map) {
    if (count === most) return;
    count += 1;
    yield entry;
  }
}
