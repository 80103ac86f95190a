/** What one job has of the connections. */
export type ConnectionShare = {
  /** How many of its mails may be on their way: its due, or more where others leave some unused. At least one. */
  window(): number;
  /** Counts as one of its mails from now until the work has ended. */
  using<Result>(work: () => Promise<Result>): Promise<Result>;
  /** It needs none any more. */
  leave(): void;
};

/**
 * Divides connections among the jobs that are served at the same time: an equal part to each, and what some do not use
 * to the job that asks first. A job that joins takes its part as the mails of the others come to their end.
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
