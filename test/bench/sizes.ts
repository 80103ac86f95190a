/** How much is done in each round. */
export type Sizes = {
  readonly mailing: { readonly jobs: number; readonly recipientsPerJob: number };
  /** Sent before the first round by every program that is measured. */
  readonly warmUpMails: number;
  /** The classic design takes its time: it sends fewer. */
  readonly classicMails: number;
  readonly smallJobs: number;
  readonly posts: number;
  readonly listedJobs: number;
  readonly reads: number;
  readonly projectedEvents: number;
  readonly streamedEvents: number;
  readonly longMailing: { readonly jobs: number; readonly recipientsPerJob: number };
  readonly slowMailing: { readonly jobs: number; readonly recipientsPerJob: number };
};

export const fullSizes: Sizes = {
  mailing: { jobs: 20, recipientsPerJob: 1000 },
  warmUpMails: 2000,
  classicMails: 2000,
  smallJobs: 3000,
  posts: 6000,
  listedJobs: 200_000,
  reads: 4000,
  projectedEvents: 500_000,
  streamedEvents: 1000,
  longMailing: { jobs: 200, recipientsPerJob: 1000 },
  // Many jobs, so that two workers can share them evenly to the end, and the last of each counts for little.
  slowMailing: { jobs: 100, recipientsPerJob: 100 },
};

/** For work on the benchmark, or a hint in a minute: too short to compare with a target. */
export const quickSizes: Sizes = {
  mailing: { jobs: 10, recipientsPerJob: 300 },
  warmUpMails: 1000,
  classicMails: 300,
  smallJobs: 400,
  posts: 1000,
  listedJobs: 20_000,
  reads: 800,
  projectedEvents: 50_000,
  streamedEvents: 200,
  longMailing: { jobs: 20, recipientsPerJob: 1000 },
  slowMailing: { jobs: 20, recipientsPerJob: 50 },
};
