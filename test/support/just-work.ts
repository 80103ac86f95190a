import type { JobType } from "../../src/domain/job/events.ts";
import type { JobWork, WorkOfTurn } from "../../src/workers/job-work.ts";

/** The work of a kind of job that needs nothing before its lease, and claims nothing with it. */
export const justWork = (type: string, work: WorkOfTurn): JobWork => ({
  type: type as JobType,
  prepare: async () => ({ claims: [], work }),
});
