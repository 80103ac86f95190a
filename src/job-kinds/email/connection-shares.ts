/** One job's share of the connections. */
export type ConnectionShare = {
  /** How many connections the job uses, and could use besides without waiting. At least one. */
  window(): number;
  /** Does the work for one recipient as soon as it is the job's turn to use a connection. */
  using<Result>(work: () => Promise<Result>): Promise<Result>;
};

export type ConnectionShares = {
  /** How many connections no job uses. */
  free(): number;
  /** Whether a job waits for a connection. */
  areWanted(): boolean;
  /** Jobs with fewer recipients left go first; help for another worker, of which it is not known, goes last. */
  join(recipients: number): ConnectionShare;
};

/** How long a job waits at most for a connection while jobs with fewer recipients left go first. */
const longestWaitMs = 1000;

type Job = { left: number; readonly waiting: { readonly sinceMs: number; readonly begin: () => void }[] };

/**
 * Divides connections among the jobs in progress: the job with the fewest recipients left goes first. So few jobs are sent
 * at a time, and their outcomes fill entries of the log. A job that has waited for a second gets the next connection, so
 * that a stream of small jobs holds up no large one.
 */
export function createConnectionShares(connections: number): ConnectionShares {
  const waitingJobs = new Set<Job>();
  let inUse = 0;

  const waitFor = (job: Job): Promise<void> =>
    new Promise((begin) => {
      job.waiting.push({ sinceMs: performance.now(), begin });
      waitingJobs.add(job);
    });
  const giveOneBack = (): void => {
    const job = nextOf(waitingJobs);
    if (job === null) {
      inUse -= 1;
      return;
    }
    const [first] = job.waiting.splice(0, 1);
    if (job.waiting.length === 0) waitingJobs.delete(job);
    first?.begin();
  };

  return {
    free: () => connections - inUse,
    areWanted: () => waitingJobs.size > 0,
    join: (recipients) => {
      const job: Job = { left: recipients, waiting: [] };
      let own = 0;
      return {
        window: () => Math.max(1, own + connections - inUse),
        using: async (work) => {
          if (inUse < connections) inUse += 1;
          else await waitFor(job);
          own += 1;
          try {
            return await work();
          } finally {
            own -= 1;
            job.left -= 1;
            giveOneBack();
          }
        },
      };
    },
  };
}

/** The job that has waited for too long; else the one with the fewest recipients left. Null if none waits. */
function nextOf(waitingJobs: ReadonlySet<Job>): Job | null {
  const overdue = performance.now() - longestWaitMs;
  let chosen: Job | null = null;
  for (const job of waitingJobs) {
    if ((job.waiting[0]?.sinceMs ?? overdue) < overdue) return job;
    if (chosen === null || job.left < chosen.left) chosen = job;
  }
  return chosen;
}
