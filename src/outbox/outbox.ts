import type { CreatedJob } from "../intake/created-job.ts";
import type { Problem } from "../problems/problem.ts";

/** A row that was taken: until its time comes again nobody else takes it. */
export type TakenRow = {
  readonly id: string;
  readonly tenant: string;
  /** How often it was taken, this time included. */
  readonly attempts: number;
  /** The text of the JSON; null where it is longer than was asked for. */
  readonly request: string | null;
  readonly bytes: number;
};

export type RowResult = { readonly row: Pick<TakenRow, "id" | "attempts"> } & (
  | { readonly outcome: "processed"; readonly response: CreatedJob }
  | { readonly outcome: "failed"; readonly problem: Problem }
  /** Looked at again after `delayMs`. */
  | { readonly outcome: "later"; readonly delayMs: number }
);

export type Share = {
  /** Rows of all these tenants together, and bytes of their requests; each tenant has at least one row. */
  readonly rows: number;
  readonly bytes: number;
  /** A request that is longer is not read. */
  readonly bytesOfRow: number;
};

/**
 * The rows that applications have written. Any number of relays work on them at a time. What was taken is not locked
 * while it is worked on: a relay that dies or is cut off keeps nobody from its rows for longer than their lease, and no
 * transaction is open while NATS is waited for. So a row can be worked on twice, and whoever does must make that
 * harmless.
 */
export interface Outbox {
  /** Tenants who have rows that are due, in turn: the next call goes on behind the last of them. */
  waiting(atMost: number): Promise<readonly string[]>;

  /** Takes rows of these tenants that are due, those that have waited longest, a fair share of each. */
  take(tenants: readonly string[], share: Share): Promise<{ readonly rows: readonly TakenRow[]; hasMore: boolean }>;

  /**
   * Writes down what became of rows. That a job was made is true whoever says it; anything else counts only from
   * whoever took the row last.
   */
  settle(results: readonly RowResult[]): Promise<void>;
}

export type Backlog = {
  /** Rows that wait to become a job, counted up to 100,000. */
  readonly rows: number;
  /** How long ago the one of them was written that has waited longest; 0 where none waits. */
  readonly oldestAgeSeconds: number;
};

/** How far the relays are behind the applications, for whoever watches them. */
export interface OutboxGauge {
  backlog(): Promise<Backlog>;
}

/** Attempts of a row: as the longest delay is five minutes, for about a day. */
export const maxAttempts = 300;

const firstDelayMs = 1000;
const longestDelayMs = 300_000;

/** How long a row waits after an attempt that failed for no fault of its own: 1, 2, 4 … seconds, then 5 minutes. */
export const delayAfterAttempt = (attempt: number): number =>
  Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(attempt - 1, 20));

/**
 * How long nobody else takes a row that was taken for this attempt: longer than it takes to make a job or to give up
 * on NATS. A row that kills whoever takes it is taken ever less often.
 */
export const leaseOfAttempt = (attempt: number): number => Math.max(30_000, delayAfterAttempt(attempt));
