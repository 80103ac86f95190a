import type { DeliveryError, SendOutcome } from "../../domain/recipients/events.ts";
import { asksForPatience } from "../../domain/throttles/asks-for-patience.ts";
import { isOlder, merge } from "../../domain/throttles/merge.ts";
import { adapt, isOver, type Throttle, type ThrottleRules, usualRules } from "../../domain/throttles/throttle.ts";
import {
  addAnswer,
  book,
  isToBeStored,
  type LocalThrottle,
  localThrottle,
  roomIn,
  takeRoom,
} from "./local-throttle.ts";
import { createRecentAnswers } from "./recent-answers.ts";

/**
 * The receivers of one route, in the memory of this process. A mail to a receiver that is not throttled costs a look into
 * a map; nothing here waits for a server.
 */
export type Receivers = {
  /** Takes room for one mail: null where the receiver is not throttled, 0 with the room, else the milliseconds to wait. */
  admit(receiver: string): number | null;
  /** Gives back the room that `admit` gave with 0. */
  leave(receiver: string): void;
  /** The milliseconds until there is room; takes none. */
  waitMs(receiver: string): number;
  /** When to come back with so many mails that wait: each caller gets a later time, so that not all return at once. */
  returnInMs(receiver: string, mails: number): number;
  heard(receiver: string, outcome: SendOutcome): void;
  /** Whether the receiver is slowed down. */
  slows(receiver: string): boolean;
};

/** What the store is to have of one receiver: null for one that is free. */
export type ThrottleChange = {
  readonly receiver: string;
  readonly toThrottle: (before: Throttle | null) => Throttle | null;
};

/** The same, for the part that shares it with the other workers. */
export type SharedReceivers = Receivers & {
  changes(): readonly ThrottleChange[];
  /** Takes over what this worker has stored. */
  stored(receiver: string, throttle: Throttle | null): void;
  /** Takes over what another worker has stored. */
  followed(receiver: string, throttle: Throttle | null): void;
  /** How many receivers are throttled. */
  size(): number;
};

export type ReceiversSettings = {
  /** The connections of this worker. */
  readonly connections: number;
  /** The live workers, of which each takes the same share. */
  readonly workers: () => number;
  /** No more receivers are slowed down at a time. */
  readonly most: number;
  readonly rules?: ThrottleRules;
  readonly now?: () => number;
};

/** The receivers of each mail route; those of a route are made when it is asked for. */
export type ReceiversOfRoutes = {
  of(route: string): SharedReceivers;
  all(): Iterable<readonly [route: string, receivers: SharedReceivers]>;
  size(): number;
};

export function createReceiversOfRoutes(create: (route: string) => SharedReceivers): ReceiversOfRoutes {
  const routes = new Map<string, SharedReceivers>();
  return {
    of: (route) => {
      const known = routes.get(route);
      if (known !== undefined) return known;
      const made = create(route);
      routes.set(route, made);
      return made;
    },
    all: () => routes,
    size: () => {
      let sum = 0;
      for (const receivers of routes.values()) sum += receivers.size();
      return sum;
    },
  };
}

export function createReceivers(settings: ReceiversSettings): SharedReceivers {
  const { connections, most, rules = usualRules, now = Date.now } = settings;
  const throttled = new Map<string, LocalThrottle>();
  /** Receivers that are free again, of which the store does not know it yet. */
  const freed = new Map<string, Throttle>();
  const recent = createRecentAnswers(now);
  const workers = (): number => Math.max(1, settings.workers());

  /** The receiver was calm for long: the log hears of it, if it was told of the throttle. */
  const forget = (receiver: string, throttle: Throttle): void => {
    throttled.delete(receiver);
    if (throttle.recordedAt !== null) freed.set(receiver, throttle);
  };
  const find = (receiver: string): LocalThrottle | undefined => {
    const local = throttled.get(receiver);
    if (local === undefined || !isOver(local.throttle, now(), rules)) return local;
    forget(receiver, local.throttle);
    return undefined;
  };
  const put = (receiver: string, throttle: Throttle): LocalThrottle | null => {
    if (throttled.size >= most) return null;
    const local = localThrottle(throttle, now());
    throttled.set(receiver, local);
    return local;
  };
  const unthrottled = (receiver: string) => () => ({
    connections: connections * workers(),
    perSecond: recent.of(receiver).perSecond * workers(),
  });
  const answered = (receiver: string, refusal: DeliveryError | null): void => {
    recent.add(receiver, refusal !== null);
    const local = find(receiver);
    if (local === undefined && refusal === null) return;
    const [at, reason] = [now(), refusal === null ? null : toReason(refusal)];
    if (local === undefined) {
      const { taken, refused } = recent.of(receiver);
      const throttle = adapt(null, { at, taken, refused, reason }, unthrottled(receiver)(), rules);
      if (throttle !== null) put(receiver, throttle);
      return;
    }
    const [taken, refused] = refusal === null ? [1, 0] : [0, 1];
    if (addAnswer(local, { at, taken, refused, reason }, unthrottled(receiver), rules)) return;
    throttled.delete(receiver);
    freed.set(receiver, local.throttle);
  };

  const merged = (before: Throttle | null, own: Throttle, at: number): Throttle =>
    before === null || isOver(before, at, rules) ? own : merge(own, before, rules);
  const follow = (receiver: string, throttle: Throttle | null): void => {
    const known = throttled.get(receiver);
    if (throttle === null || isOver(throttle, now(), rules)) {
      if (known?.isUnstored === false) throttled.delete(receiver);
      return;
    }
    const local = known ?? put(receiver, throttle);
    if (local === null) return;
    if (known === undefined) local.isUnstored = false;
    local.throttle = merge(local.throttle, throttle, rules);
    local.storedPace = throttle.perSecond;
  };

  return {
    admit: (receiver) => {
      const local = find(receiver);
      if (local === undefined) return null;
      const waitMs = roomIn(local, now(), workers(), rules);
      if (waitMs === 0) takeRoom(local, now(), workers());
      return waitMs;
    },
    leave: (receiver) => {
      const local = throttled.get(receiver);
      if (local !== undefined) local.inFlight = Math.max(0, local.inFlight - 1);
    },
    waitMs: (receiver) => {
      const local = find(receiver);
      return local === undefined ? 0 : roomIn(local, now(), workers(), rules);
    },
    returnInMs: (receiver, mails) => {
      const local = find(receiver);
      return local === undefined ? 0 : book(local, mails, now(), workers(), rules);
    },
    heard: (receiver, outcome) => {
      if (outcome.kind === "sent" || outcome.kind === "failed") answered(receiver, null);
      else if (outcome.kind === "deferred" && asksForPatience(outcome.error)) answered(receiver, outcome.error);
    },
    changes: () => {
      const at = now();
      const due: ThrottleChange[] = [];
      for (const [receiver, { throttle }] of throttled) if (isOver(throttle, at, rules)) forget(receiver, throttle);
      for (const [receiver, own] of freed) {
        due.push({
          receiver,
          toThrottle: (before) => (before !== null && isOlder(own, before, rules) ? before : null),
        });
      }
      // Where more are due than the store can take in a moment, each has its turn. The end of an earlier throttle comes first.
      const toStore = [...throttled]
        .filter(([receiver, local]) => isToBeStored(local, at) && !freed.has(receiver))
        .sort(([, one], [, other]) => one.storedAt - other.storedAt);
      for (const [receiver, { throttle }] of toStore) {
        due.push({ receiver, toThrottle: (before) => merged(before, throttle, at) });
      }
      return due;
    },
    stored: (receiver, throttle) => {
      freed.delete(receiver);
      const local = throttled.get(receiver);
      if (local !== undefined) {
        local.storedAt = now();
        local.isUnstored = throttle === null || local.throttle.refusedAt > throttle.refusedAt;
      }
      follow(receiver, throttle);
    },
    followed: follow,
    slows: (receiver) => find(receiver) !== undefined,
    size: () => throttled.size,
  };
}

const toReason = ({ replyCode, statusCode, message }: DeliveryError) => ({ replyCode, statusCode, message });
