import type { JobSettings } from "../../domain/job/events.ts";
import { type JobRef, keyOf } from "../../event-log/event-log.ts";
import type { JobRoutes } from "../../mail/routes/job-routes.ts";

/** A mailing that takes longer than this, at the rate of its routes, is slow. A turn that was postponed comes back sooner. */
const slowAfterMs = 30_000;
/** One that was not begun by now is left to another worker, or was paused meanwhile. */
const begunWithinMs = 10_000;
const mostKnown = 100_000;

/** Called when the job begins, it returns what is to be called when it has ended. */
type Begin = () => () => void;

type SlowJobs = {
  /** Null where the job is slow, enough like it are being done, and there is another route for other jobs. */
  enter(job: JobRef, settings: JobSettings, routes: JobRoutes): Begin | null;
  /** Whether it is known without its content that `enter` would answer null. */
  hasToWait(job: JobRef, settings: Pick<JobSettings, "priority">): boolean;
};

const unlimited: Begin = () => () => {};

/**
 * Mailings whose routes have a low rate: each holds slots of its worker for as long as it takes, and hardly uses them. So few
 * of them, `most`, are done at a time of each tenant and priority. None of them waits for those of others.
 */
export function createSlowJobs(most: number): SlowJobs {
  /** How many are done, by tenant, priority and routes. */
  const counts = new Map<string, number>();
  /** For which of these the jobs wait that were not let in. */
  const waiting = new Map<string, string>();
  const isFull = (kind: string): boolean => (counts.get(kind) ?? 0) >= most;
  const add = (kind: string, more: number): void => {
    const count = (counts.get(kind) ?? 0) + more;
    if (count === 0) counts.delete(kind);
    else counts.set(kind, count);
  };
  const begin = (kind: string): Begin => {
    let isOver = false;
    const end = (): void => {
      if (!isOver) add(kind, -1);
      isOver = true;
    };
    add(kind, 1);
    const timer = setTimeout(end, begunWithinMs).unref();
    return () => {
      clearTimeout(timer);
      return end;
    };
  };

  return {
    enter: (job, { total, priority }, routes) => {
      waiting.delete(keyOf(job));
      if (!isSlow(routes, total)) return unlimited;
      const kind = `${job.tenant} ${priority} ${routes.key()}`;
      if (!isFull(kind)) return begin(kind);
      if (waiting.size >= mostKnown) waiting.clear();
      waiting.set(keyOf(job), kind);
      return null;
    },
    hasToWait: (job, { priority }) => {
      const kind = waiting.get(keyOf(job));
      return kind?.startsWith(`${job.tenant} ${priority} `) === true && isFull(kind);
    },
  };
}

function isSlow(routes: JobRoutes, recipients: number): boolean {
  const perSecond = routes.perSecond();
  if (perSecond === null || recipients <= routes.connections()) return false;
  return recipients * 1000 > perSecond * slowAfterMs && routes.haveOthers();
}
