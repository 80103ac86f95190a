import type { Lifecycle } from "../../src/process/lifecycle.ts";
import type { ColdAndWarm } from "./cold-and-warm.ts";
import type { Ground } from "./ground.ts";
import type { Sizes } from "./sizes.ts";
import { medianOfKnown } from "./statistics.ts";

export type Bound = { readonly atLeast?: number; readonly atMost?: number };
export type Targets = { readonly cold?: Bound; readonly warm?: Bound };

/**
 * One number of a row: of the first time, with processes and servers that have done nothing yet, and the median of the
 * rounds after the warm-up. Null where it is not known; without a target it only informs.
 */
export type Figure = {
  readonly what: string;
  readonly cold: number | null;
  readonly warm: number | null;
  readonly targets: Targets;
};

/** Lines of the table that belong together: it holds when each of its figures keeps its targets. */
export type Row = {
  readonly name: string;
  readonly figures: readonly Figure[];
  /** What the figures were made of, for the reader. */
  readonly notes: readonly string[];
  /** The same of every round, for the JSON. */
  readonly rounds: unknown;
};

/** Servers that nothing else uses, and the lifecycle that stops what is started on them. */
export type Stage = { readonly ground: Ground; readonly lifecycle: Lifecycle };

export type Bench = {
  readonly sizes: Sizes;
  /** How often a figure is measured after the warm-up. */
  readonly rounds: number;
  /** Starts servers for this work alone, and stops everything after it. */
  onFreshServers<Result>(work: (stage: Stage) => Promise<Result>): Promise<Result>;
};

export type Measurement = {
  readonly name: string;
  readonly timeoutMs: number;
  readonly measure: (bench: Bench) => Promise<Omit<Row, "name">>;
};

/** The row cannot be measured on this machine, which is nobody's failure; the message says why. */
export class NotAvailable extends Error {
  override readonly name = "NotAvailable";
}

export const figureOf = <Round>(
  { cold, warm }: ColdAndWarm<Round>,
  what: string,
  pick: (round: Round) => number | null,
  targets: Targets = {},
): Figure => ({ what, cold: pick(cold), warm: medianOfKnown(warm.map(pick)), targets });

export const keepsBound = (value: number | null, { atLeast, atMost }: Bound = {}): boolean =>
  value === null || ((atLeast === undefined || value >= atLeast) && (atMost === undefined || value <= atMost));

export const keepsTargets = ({ cold, warm, targets }: Figure): boolean =>
  keepsBound(cold, targets.cold) && keepsBound(warm, targets.warm);

export const holds = ({ figures }: Pick<Row, "figures">): boolean => figures.every(keepsTargets);
