import type { JobListOptions } from "../../projections/jobs/list-options.ts";

/** The list of all jobs, the newest first. */
export const everyJob: JobListOptions = {
  statuses: [],
  type: null,
  mailing: null,
  createdAfter: null,
  createdBefore: null,
  q: null,
  page: 1,
  pageSize: 100,
  cursor: null,
  sortBy: "createdAt",
  order: "desc",
};
