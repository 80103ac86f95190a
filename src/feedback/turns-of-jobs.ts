import { type JobRef, keyOf } from "../event-log/event-log.ts";

/**
 * Lets the work on one job wait for what was begun on it before, and does the work on several at a time. The reports about
 * the mails of a job come together, and each append of one makes those of the others read the log again.
 */
export function createTurnsOfJobs() {
  const last = new Map<string, Promise<unknown>>();
  return async <Result>(job: JobRef, work: () => Promise<Result>): Promise<Result> => {
    const key = keyOf(job);
    const turn = (last.get(key) ?? Promise.resolve()).then(work);
    const over = turn.catch(() => {});
    last.set(key, over);
    try {
      return await turn;
    } finally {
      if (last.get(key) === over) last.delete(key);
    }
  };
}
