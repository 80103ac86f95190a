import { isReadFailure, TooManySlowQueries } from "../../../projections/following/read-failure.ts";
import type { ReadPositions } from "../../../projections/following/read-position.ts";
import { Unavailable } from "../../domain/unavailable.ts";
import type { EventLog, JobRef } from "../../event-log/event-log.ts";
import { Archived } from "../../event-log/log-failures.ts";
import { type Answer, ReadModelUnavailable, refuseForNow } from "../server/answer.ts";

const queryTimeoutMs = 5000;
/** How long a read waits for the read model to include the sequence that the caller asked for. */
const catchUpMs = 2000;

/** Queries a read model; throws ReadModelUnavailable where its database is away or does not answer in time. */
export async function askReadModel<Result>(query: () => Promise<Result>, withinMs = queryTimeoutMs): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  // A plain timer, and not the promise of node:timers: aborting that promise costs more than the query.
  const late = new Promise<never>((_, reject) => {
    const failure = (): void => reject(new ReadModelUnavailable(`There was no answer within ${withinMs} ms.`));
    timer = setTimeout(failure, withinMs);
  });
  try {
    return await Promise.race([query(), late]);
  } catch (failure) {
    throw explainDatabase(failure);
  } finally {
    clearTimeout(timer);
  }
}

/** Turns a failure of the database into a failure of the read model; returns any other failure as it is. */
export function explainDatabase(failure: unknown): unknown {
  if (failure instanceof TooManySlowQueries) return new ReadModelUnavailable(failure.message, { cause: failure });
  return isReadFailure(failure)
    ? new ReadModelUnavailable("The database cannot be reached.", { cause: failure })
    : failure;
}

type ReadPosition = Pick<ReadPositions, "waitFor">;

/** Whether the projection reaches the sequence within the time that a read may take. */
export const caughtUp = (readPosition: ReadPosition, projection: string, sequence: number): Promise<boolean> =>
  sequence === 0 ? Promise.resolve(true) : askReadModel(() => readPosition.waitFor(projection, sequence, catchUpMs));

/**
 * What a read model answers once it includes a sequence, or after the time that a read may take. The query comes first,
 * and the wait only where the read model is behind: mostly it is not.
 */
export async function askIncluding<Result extends { readonly readSequence: number }>(
  readPosition: ReadPosition,
  projection: string,
  sequence: number,
  query: () => Promise<Result>,
): Promise<Result> {
  const result = await askReadModel(query);
  if (result.readSequence >= sequence) return result;
  await caughtUp(readPosition, projection, sequence);
  return askReadModel(query);
}

/** Null once the projection has reached the sequence; else the refusal. */
export async function awaitMinSequence(
  readPosition: ReadPosition,
  projection: string,
  sequence: number,
): Promise<Answer | null> {
  return (await caughtUp(readPosition, projection, sequence)) ? null : refuseBehind(sequence);
}

export const refuseBehind = (sequence: number): Answer =>
  refuseForNow("read-model-behind", `The read model has not reached sequence ${sequence} yet. Try again.`, 1);

export const readSequenceHeader = (sequence: number): Readonly<Record<string, string>> => ({
  "Read-Sequence": String(sequence),
});

/**
 * The sequences that this process has decided or shown, so that it never answers with older state: not for a single job,
 * nor, for its own decisions, in a list. The memory is bounded: for a job that dropped out of it, this process answers as
 * any other process would.
 */
export type OwnWrites = {
  remember(job: JobRef, sequence: number): void;
  /** Records the state of a job that an answer has shown: the next answer about this job must not be older. */
  show(job: JobRef, sequence: number): void;
  /** The last sequence that was decided or shown for a job; 0 if this process remembers none. */
  ofJob(job: JobRef): number;
  ofTenant(tenant: string): number;
};

const maxJobs = 10_000;

export function createOwnWrites(): OwnWrites {
  const byJob = new Map<string, number>();
  const byTenant = new Map<string, number>();
  const keyOf = ({ tenant, jobId }: JobRef): string => `${tenant}/${jobId}`;
  const show = (job: JobRef, sequence: number): void => {
    const key = keyOf(job);
    // Of two concurrent answers the older one may arrive here last.
    const latest = Math.max(sequence, byJob.get(key) ?? 0);
    byJob.delete(key);
    byJob.set(key, latest);
    for (const oldest of byJob.keys()) {
      if (byJob.size <= maxJobs) break;
      byJob.delete(oldest);
    }
  };
  return {
    show,
    remember: (job, sequence) => {
      show(job, sequence);
      byTenant.set(job.tenant, Math.max(sequence, byTenant.get(job.tenant) ?? 0));
    },
    ofJob: (job) => byJob.get(keyOf(job)) ?? 0,
    ofTenant: (tenant) => byTenant.get(tenant) ?? 0,
  };
}

/**
 * The sequence that a read model must have reached before it is asked about a job; null where no such job exists. While
 * the log is away, and where the job is in an archive that is not at hand, jobs that were projected before are answered from
 * the projection.
 */
export async function readLastDecision(
  log: Pick<EventLog, "lastDecision">,
  job: JobRef,
  isProjected: () => Promise<boolean>,
): Promise<number | null> {
  try {
    const lastDecision = await log.lastDecision(job);
    return lastDecision === 0 ? null : lastDecision;
  } catch (failure) {
    const isElsewhere = failure instanceof Unavailable || failure instanceof Archived;
    if (isElsewhere && (await isProjected())) return 0;
    throw failure;
  }
}

/** The read models that show what was sent, or to whom. */
const showing = ["jobs", "dead-letters"];

/**
 * Waits briefly until no read model shows the erased data any more. A read model that is away still holds the data, but
 * erases it before it continues: the event stands in the log.
 */
export async function untilErased(readPosition: ReadPosition, sequence: number): Promise<void> {
  await Promise.allSettled(showing.map((projection) => caughtUp(readPosition, projection, sequence)));
}
