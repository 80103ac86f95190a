import type { JobAnswer } from "../api/answers.ts";

type Sample = { readonly at: number; readonly done: number };

/** The speed of the jobs that the page has seen, from two samples of the same job. */
export type Estimates = {
  look(job: Looked): void;
  /** Null where the speed is not known yet, or nothing is left. */
  secondsLeft(job: Looked): number | null;
  perSecond(job: Looked): number | null;
};

type Looked = Pick<JobAnswer, "id" | "status" | "progress" | "attempt">;

const windowMs = 15_000;
/** Between samples that are closer, chance outweighs speed. */
const leastMs = 1500;

export function createEstimates(now: () => number = () => performance.now()): Estimates {
  const samples = new Map<string, Sample[]>();

  const perSecond = ({ id, status }: Looked): number | null => {
    const known = samples.get(id) ?? [];
    const [first, last] = [known[0], known.at(-1)];
    if (status !== "processing" || first === undefined || last === undefined) return null;
    const ms = last.at - first.at;
    return ms < leastMs ? null : Math.max(0, (last.done - first.done) / (ms / 1000));
  };

  return {
    look: (job) => {
      const at = now();
      const done = doneOf(job.progress);
      const known = samples.get(job.id) ?? [];
      // A retry repeats some of the work: earlier samples do not describe it.
      const goesOn = job.status === "processing" && (known.at(-1)?.done ?? 0) <= done;
      const kept = goesOn ? known.filter((sample) => at - sample.at <= windowMs) : [];
      samples.set(job.id, [...kept, { at, done }]);
    },
    perSecond,
    secondsLeft: (job) => {
      const speed = perSecond(job);
      const left = job.progress.pending + job.progress.deferred;
      return speed === null || speed === 0 || left === 0 ? null : left / speed;
    },
  };
}

/** The number of recipients that have an outcome. */
export const doneOf = ({ total, pending, deferred }: JobAnswer["progress"]): number => total - pending - deferred;
