/** How a kind of job slows down recipients whose receiver has asked for patience. */
export type HoldingBack = {
  /** Whether no receiver at all has asked for patience: then no recipient needs room. */
  readonly isFree: () => boolean;
  /** Recipients with the same receiver wait for the same room. */
  readonly receiverOf: (recipient: number) => string;
  /** The milliseconds until there is room; takes none. */
  readonly waitMs: (receiver: string) => number;
  /** Takes room for one recipient: null where it needs none, 0 with the room, else the milliseconds to wait. */
  readonly admit: (receiver: string) => number | null;
  /** Gives back the room that `admit` gave with 0. */
  readonly leave: (receiver: string) => void;
  /** When to try a receiver again, for which so many recipients wait. */
  readonly returnInMs: (receiver: string, recipients: number) => number;
  /** One of the few turns of the process that may wait for room; null where there are enough. Ends with a call. */
  readonly stay: () => (() => void) | null;
};
