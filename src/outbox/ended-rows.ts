/** Rows of the outbox that have become a job, or were given up. */
export interface EndedRows {
  /** Removes some of those that were written so long ago, at most `limit`; how many it has removed. */
  remove(olderThanMs: number, limit: number): Promise<number>;
}
