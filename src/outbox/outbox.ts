import type { CreatedJob } from "../intake/accept-job.ts";
import type { Problem } from "../schemas/problem.ts";

/** A row that a relay has taken: no other relay takes it until its lease ends. */
export type TakenRow = {
  readonly id: string;
  readonly tenant: string;
  /** How often the row was taken, this time included. */
  readonly attempts: number;
  /** The JSON text; null if it is longer than the caller asked for. */
  readonly request: string | null;
  readonly bytes: number;
};

export type RowResult = { readonly row: Pick<TakenRow, "id" | "attempts"> } & (
  | { readonly outcome: "processed"; readonly response: CreatedJob }
  | { readonly outcome: "failed"; readonly problem: Problem }
  /** To be tried again after `delayMs`. */
  | { readonly outcome: "later"; readonly delayMs: number }
);

export type Share = {
  /** Rows of all these tenants together, and bytes of their requests; each tenant gets at least one row. */
  readonly rows: number;
  readonly bytes: number;
  /** A longer request is not read. */
  readonly bytesOfRow: number;
};

/**
 * The rows that applications have written. Any number of relays work on them at a time. A taken row is leased, not
 * locked: a relay that dies or is cut off blocks its rows no longer than the lease, and no transaction is open while a
 * relay waits for NATS. So two relays can work on the same row, and must make that harmless.
 */
export interface Outbox {
  /** Tenants with rows that are due, in turn: the next call goes on after the last of them. */
  waiting(atMost: number): Promise<readonly string[]>;

  /** Takes rows of these tenants that are due, the oldest first, a fair share of each tenant. */
  take(tenants: readonly string[], share: Share): Promise<{ readonly rows: readonly TakenRow[]; hasMore: boolean }>;

  /**
   * Stores the results of rows. That a row became a job is stored whichever relay reports it; any other result only if
   * this relay was the last to take the row.
   */
  settle(results: readonly RowResult[]): Promise<void>;
}

export type Backlog = {
  /** Rows that wait to become a job, counted up to 100,000. */
  readonly rows: number;
  /** How long ago the oldest of them was written; 0 if none waits. */
  readonly oldestAgeSeconds: number;
};

/** How far the relays are behind the applications. */
export interface OutboxGauge {
  backlog(): Promise<Backlog>;
}

/** How often a row is tried: for about a day, since the longest delay is five minutes. */
export const maxAttempts = 300;

const firstDelayMs = 1000;
const longestDelayMs = 300_000;

/** How long a row waits after an attempt that failed through no fault of the row: 1, 2, 4 … seconds, then 5 minutes. */
export const delayAfterAttempt = (attempt: number): number =>
  Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(attempt - 1, 20));

/**
 * How long no other relay takes a row that was taken for this attempt: longer than it takes to create a job or to give
 * up on NATS. A row that crashes its relay is taken less and less often.
 */
export const leaseOfAttempt = (attempt: number): number => Math.max(30_000, delayAfterAttempt(attempt));
