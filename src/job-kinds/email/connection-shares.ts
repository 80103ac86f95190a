/** One job's share of the connections. */
export type ConnectionShare = {
  /** How many of the job's mails may be on their way: its due, or more where other jobs leave some unused. At least one. */
  window(): number;
  /** Counts the work as one of the job's mails until it has ended. */
  using<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Gives the share back. */
  leave(): void;
};

/**
 * Divides connections among the jobs in progress: an equal part to each, and what some jobs do not use to the job that
 * asks first. A job that joins gets its part as the mails of the other jobs end.
 */
export function createConnectionShares(connections: number): { join(): ConnectionShare } {
  let jobs = 0;
  let inUse = 0;
  return {
    join: () => {
      let own = 0;
      jobs += 1;
      return {
        window: () => Math.max(1, Math.floor(connections / jobs), own + connections - inUse),
        using: async (work) => {
          own += 1;
          inUse += 1;
          try {
            return await work();
          } finally {
            own -= 1;
            inUse -= 1;
          }
        },
        leave: () => {
          jobs -= 1;
        },
      };
    },
  };
}
