import type { Lifecycle } from "../../src/lifecycle.ts";
import type { Ground } from "./ground.ts";
import type { Sizes } from "./sizes.ts";

/** One measured number, a median of the rounds; without a bound it only tells. Null where the system does not tell. */
export type Figure = {
  readonly what: string;
  readonly value: number | null;
  readonly atLeast?: number;
  readonly atMost?: number;
};

/** A line of the table: it holds when each of its figures keeps its bound. */
export type Row = {
  readonly name: string;
  readonly figures: readonly Figure[];
  /** What the figures were made of, for the reader. */
  readonly notes: readonly string[];
  /** The same of every round, for the JSON. */
  readonly rounds: readonly unknown[];
};

/** Where and how large a measurement is; what it starts it gives to the lifecycle, which stops it. */
export type Bench = {
  readonly ground: Ground;
  readonly lifecycle: Lifecycle;
  readonly sizes: Sizes;
  readonly rounds: number;
};

/** Rows that are measured together. */
export type Measurement = {
  readonly rows: readonly string[];
  readonly timeoutMs: number;
  readonly measure: (bench: Bench) => Promise<readonly Row[]>;
};

export const keepsBound = ({ value, atLeast, atMost }: Figure): boolean =>
  value === null || ((atLeast === undefined || value >= atLeast) && (atMost === undefined || value <= atMost));

export const holds = ({ figures }: Row): boolean => figures.every(keepsBound);
