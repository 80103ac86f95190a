import { once } from "node:events";
import type { JobType } from "../../src/domain/job/events.ts";
import { noCounts } from "../../src/domain/mailing/counts.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import type { JobWork, WorkOfTurn } from "../../src/workers/job-work.ts";

/** The work of a kind of job that needs nothing before its lease, and claims nothing with it. */
export const justWork = (type: string, work: WorkOfTurn): JobWork => ({
  type: type as JobType,
  prepare: async () => ({ claims: [], work }),
});

/** Work that adds its job to `begun`, and then does nothing until the signal aborts. */
export const workUntil = (type: string, until: AbortSignal, begun: JobRef[]): JobWork =>
  justWork(type, async ({ job }, _lease, _books, stopping) => {
    begun.push(job);
    const over = AbortSignal.any([stopping, until]);
    if (!over.aborted) await once(over, "abort");
    return { kind: "completed", counts: noCounts };
  });
