/** The answer that slowed a receiver down. The text holds no address. */
export type ThrottleReason = {
  readonly replyCode: number | null;
  readonly statusCode: string | null;
  readonly message: string;
};

/** How fast one receiver is mailed over one route, by all workers together. Times are milliseconds since 1970. */
export type Throttle = {
  /** How many mails may be on their way at a time. */
  readonly window: number;
  readonly perSecond: number;
  /** The pace at which the receiver last began to refuse: one that takes nothing says no more of it. */
  readonly refusedPace: number;
  /** When it last began to refuse. */
  readonly refusingSince: number;
  /** The time in which the pace grows by the refused one: see `ThrottleRules`. */
  readonly growthMs: number;
  /** The pace at which the receiver is free again. */
  readonly freePace: number;
  /** How many times in a row it was slowed down and took nothing in between. */
  readonly rounds: number;
  readonly since: number;
  readonly refusedAt: number;
  readonly slowedAt: number;
  readonly grownAt: number;
  /** Nothing is sent before. */
  readonly pausedUntil: number;
  readonly reason: ThrottleReason;
  /** When the log was told of it; null as long as it may be over in a moment. */
  readonly recordedAt: number | null;
};

/** A receiver that is slowed down on a mail route. */
export type ThrottledReceiver = { readonly route: string; readonly receiver: string; readonly throttle: Throttle };

/** The answers of a receiver since the last change. */
export type Heard = {
  readonly at: number;
  readonly taken: number;
  readonly refused: number;
  /** Of the last refusal; null without one. */
  readonly reason: ThrottleReason | null;
};

export type ThrottleRules = {
  /** A receiver is slowed down once in this time, however many mails it refuses: those were under way already. */
  readonly roundMs: number;
  /**
   * The shortest time in which the pace grows by the pace that was refused. A receiver that took nothing for a while may
   * have got too much before: then this time is at least `growthByRefusal` times as long as that while.
   */
  readonly growthMs: number;
  readonly growthByRefusal: number;
  /** A receiver that refuses everything is left alone for this time, then twice as long, up to `longestPauseMs`. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** A receiver that has refused nothing for this time is free. */
  readonly calmMs: number;
};

export const usualRules: ThrottleRules = {
  roundMs: 1000,
  growthMs: 30_000,
  growthByRefusal: 6,
  firstPauseMs: 2000,
  longestPauseMs: 600_000,
  calmMs: 3_600_000,
};

/** What a receiver gets while it is not slowed down: all connections, and the pace that was measured. */
export type Unthrottled = { readonly connections: number; readonly perSecond: number };

/** The first refusal of a receiver with little mail says nothing about its pace: no pace below this one is halved. */
export const leastFreePace = 20;
export const leastPace = 0.2;
/** A large receiver always has some mailboxes that answer with patience: fewer than one in ten slow nothing down. */
export const refusedShare = 0.1;
/** Fewer refusals are about single mails, such as the first to a recipient at a server that greylists. */
export const leastRefusals = 3;
/** A pause or a lull is no sign that more would be taken: growth counts no longer time between two answers. */
const longestGrowthMs = 10_000;

const isRefusing = ({ taken, refused }: Heard): boolean => refused > 0 && refused >= refusedShare * (taken + refused);

/**
 * What the receiver gets from now on; null where it is not slowed down, or no more. Additive up, halved down. Answers to
 * mails that were under way when the receiver was slowed down do not slow it down again.
 */
export function adapt(
  before: Throttle | null,
  heard: Heard,
  free: Unthrottled,
  rules: ThrottleRules = usualRules,
): Throttle | null {
  const known = before === null || isOver(before, heard.at, rules) ? null : before;
  if (isRefusing(heard) && (known !== null || heard.refused >= leastRefusals)) return slowed(known, heard, free, rules);
  if (known === null || heard.taken === 0) return known;
  const grown = grownBy(known, heard, free, rules);
  return grown.perSecond >= grown.freePace && grown.window >= free.connections ? null : grown;
}

/** Whether the receiver has refused nothing for so long that it is free. */
export const isOver = ({ refusedAt }: Throttle, at: number, { calmMs }: ThrottleRules = usualRules): boolean =>
  at - refusedAt >= calmMs;

function slowed(before: Throttle | null, heard: Heard, free: Unthrottled, rules: ThrottleRules): Throttle {
  const { at, taken } = heard;
  const unknown = { replyCode: null, statusCode: null, message: "" };
  if (before === null) {
    const freePace = Math.max(leastFreePace, free.perSecond);
    const first = {
      since: at,
      refusedAt: at,
      slowedAt: at,
      grownAt: at,
      pausedUntil: 0,
      recordedAt: null,
      reason: heard.reason ?? unknown,
    };
    return {
      ...first,
      window: half(free.connections, 1),
      perSecond: freePace / 2,
      refusedPace: freePace,
      refusingSince: at,
      growthMs: rules.growthMs,
      freePace,
      rounds: 1,
    };
  }
  const reason = heard.reason ?? before.reason;
  const last = { ...before, reason, refusedAt: Math.max(at, before.refusedAt) };
  if (at - before.slowedAt < rules.roundMs) return last;
  const rounds = taken > 0 ? 1 : before.rounds + 1;
  // Mails that were under way are still taken: only after a round without a refusal does it begin to refuse anew.
  const began = before.rounds > 0 ? before : { refusedPace: before.perSecond, refusingSince: at };
  return {
    ...last,
    refusedPace: began.refusedPace,
    refusingSince: began.refusingSince,
    growthMs: growthAfter(at - began.refusingSince, rules),
    window: half(before.window, 1),
    perSecond: half(before.perSecond, leastPace),
    rounds,
    slowedAt: at,
    grownAt: at,
    pausedUntil: rounds > 1 ? at + pauseMs(rounds, rules) : before.pausedUntil,
  };
}

function grownBy(before: Throttle, { at }: Heard, { connections }: Unthrottled, rules: ThrottleRules): Throttle {
  const forMs = Math.min(Math.max(0, at - before.grownAt), longestGrowthMs);
  const growthMs = before.rounds === 0 ? before.growthMs : growthAfter(at - before.refusingSince, rules);
  return {
    ...before,
    growthMs,
    window: Math.min(connections, before.window + forMs / 1000),
    perSecond: paceAfter({ ...before, growthMs }, forMs),
    rounds: 0,
    grownAt: Math.max(at, before.grownAt),
    pausedUntil: 0,
  };
}

const growthAfter = (refusedForMs: number, { growthMs, growthByRefusal }: ThrottleRules): number =>
  Math.max(growthMs, growthByRefusal * refusedForMs);

/** Up to this part of the refused pace, the pace doubles in each second: an outage says nothing of a pace. */
const soonPart = 0.25;
const doublingMs = 1000;

/** The pace once the receiver has taken mails for so long. */
export function paceAfter({ perSecond, refusedPace, freePace, growthMs }: Throttle, forMs: number): number {
  const soon = Math.max(perSecond, soonPart * refusedPace);
  const doublesForMs = doublingMs * Math.log2(soon / perSecond);
  if (forMs < doublesForMs) return Math.min(freePace, perSecond * 2 ** (forMs / doublingMs));
  return Math.min(freePace, soon + (refusedPace * (forMs - doublesForMs)) / growthMs);
}

const half = (value: number, least: number): number => Math.max(least, value / 2);

const pauseMs = (rounds: number, { firstPauseMs, longestPauseMs }: ThrottleRules): number =>
  Math.min(firstPauseMs * 2 ** Math.min(rounds - 2, 30), longestPauseMs);
