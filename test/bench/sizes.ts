import type { Options } from "./options.ts";

export type MailingShape = { readonly jobs: number; readonly recipientsPerJob: number };

/** How much is done in each round, and before the warm ones. */
export type Sizes = {
  readonly mailing: MailingShape;
  readonly warmUp: MailingShape;
  readonly smallJobs: number;
  readonly smallJobsWarmUp: number;
  readonly posts: number;
  readonly listedJobs: number;
  readonly reads: number;
  readonly projectedEvents: number;
  readonly streamedEvents: number;
  readonly longMailing: MailingShape;
  readonly slowMailing: MailingShape;
  /** Mailings for many workers together: more mailings than workers, and fewer. */
  readonly manyShared: MailingShape;
  readonly fewShared: MailingShape;
  readonly agedJobs: number;
  /** Lines of the file of one mailing. */
  readonly recipients: number;
};

const fullSizes: Sizes = {
  mailing: { jobs: 20, recipientsPerJob: 1000 },
  // The compilers of Node are busy for about as many mails.
  warmUp: { jobs: 20, recipientsPerJob: 1000 },
  smallJobs: 3000,
  smallJobsWarmUp: 3000,
  posts: 6000,
  listedJobs: 200_000,
  reads: 4000,
  projectedEvents: 500_000,
  streamedEvents: 1000,
  longMailing: { jobs: 200, recipientsPerJob: 1000 },
  // Many jobs, so that several workers can share them evenly to the end, and the last of each counts for little.
  slowMailing: { jobs: 200, recipientsPerJob: 100 },
  manyShared: { jobs: 20, recipientsPerJob: 1000 },
  fewShared: { jobs: 5, recipientsPerJob: 1000 },
  agedJobs: 2_000_000,
  recipients: 1_000_000,
};

/** For work on the benchmark, or a hint in a minute: too short to compare with a target. */
const quickSizes: Sizes = {
  mailing: { jobs: 10, recipientsPerJob: 300 },
  warmUp: { jobs: 5, recipientsPerJob: 300 },
  smallJobs: 400,
  smallJobsWarmUp: 200,
  posts: 1000,
  listedJobs: 20_000,
  reads: 800,
  projectedEvents: 50_000,
  streamedEvents: 200,
  longMailing: { jobs: 20, recipientsPerJob: 1000 },
  slowMailing: { jobs: 40, recipientsPerJob: 50 },
  manyShared: { jobs: 20, recipientsPerJob: 250 },
  fewShared: { jobs: 5, recipientsPerJob: 500 },
  agedJobs: 20_000,
  recipients: 50_000,
};

export function sizesOf({ quick, jobs, recipients }: Pick<Options, "quick" | "jobs" | "recipients">): Sizes {
  const sizes = quick ? quickSizes : fullSizes;
  return { ...sizes, agedJobs: jobs ?? sizes.agedJobs, recipients: recipients ?? sizes.recipients };
}

export const mailsOf = ({ jobs, recipientsPerJob }: MailingShape): number => jobs * recipientsPerJob;
