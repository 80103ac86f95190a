import { type JobRef, keyOf } from "../event-log.ts";

/** Runs the work on a job, mailing or schedule once all that was begun on it before is done. */
export type Serially = <Result>(of: JobRef, work: () => Promise<Result>) => Promise<Result>;

/** The work on several goes on at a time. A failure is that of its caller alone. */
export function createSerially(): Serially {
  const last = new Map<string, Promise<unknown>>();
  return async (of, work) => {
    const key = keyOf(of);
    const done = (last.get(key) ?? Promise.resolve()).then(work);
    const over = done.catch(() => {});
    last.set(key, over);
    try {
      return await done;
    } finally {
      if (last.get(key) === over) last.delete(key);
    }
  };
}
