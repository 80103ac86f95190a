import type { ReadPositions } from "../../../projections/following/read-position.ts";
import { isDatabaseTrouble } from "../../database/database-failure.ts";
import { Unavailable } from "../../domain/unavailable.ts";
import type { EventLog, JobRef } from "../../event-log/event-log.ts";
import { type Answer, ReadModelUnavailable, refuseForNow } from "../server/answer.ts";

const queryTimeoutMs = 5000;
/** How long a read waits for what it was asked to include. */
const catchUpMs = 2000;

/** Asks a read model; where its database is away or silent, throws ReadModelUnavailable. */
export async function askReadModel<Result>(query: () => Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  // Not the platform's promise of a pause: to abort one costs more than the query.
  const late = new Promise<never>((_, reject) => {
    const failure = (): void => reject(new ReadModelUnavailable(`There was no answer within ${queryTimeoutMs} ms.`));
    timer = setTimeout(failure, queryTimeoutMs);
  });
  try {
    return await Promise.race([query(), late]);
  } catch (failure) {
    throw explainDatabase(failure);
  } finally {
    clearTimeout(timer);
  }
}

/** The same failure, told as one of a read model where its database is away. */
export const explainDatabase = (failure: unknown): unknown =>
  isDatabaseTrouble(failure) ? new ReadModelUnavailable("The database cannot be asked.", { cause: failure }) : failure;

type ReadPosition = Pick<ReadPositions, "waitFor">;

/** Whether the projection came as far as the sequence in the time that a read may take. */
export const caughtUp = (readPosition: ReadPosition, projection: string, sequence: number): Promise<boolean> =>
  sequence === 0 ? Promise.resolve(true) : askReadModel(() => readPosition.waitFor(projection, sequence, catchUpMs));

/**
 * What a read model answers once it includes a sequence, or after the time that a read may take. It is asked first, and
 * waited for only where it is behind: mostly it is not.
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

/** Null once the projection has come as far as was asked; else the refusal. */
export async function awaitMinSequence(
  readPosition: ReadPosition,
  projection: string,
  sequence: number,
): Promise<Answer | null> {
  return (await caughtUp(readPosition, projection, sequence)) ? null : refuseBehind(sequence);
}

export const refuseBehind = (sequence: number): Answer =>
  refuseForNow("read-model-behind", `It has not come as far as sequence ${sequence} yet. Try again.`, 1);

export const readSequenceHeader = (sequence: number): Readonly<Record<string, string>> => ({
  "Read-Sequence": String(sequence),
});

/**
 * What was decided through this process and what it has shown, so that it never answers with less: not for one job, nor,
 * of what was decided, in a list. It is bounded; a job that fell out of it is answered as another process would answer it.
 */
export type OwnWrites = {
  remember(job: JobRef, sequence: number): void;
  /** An answer told of a job as it was then: the next one about this job is to tell no less. */
  show(job: JobRef, sequence: number): void;
  /** The last sequence that was decided or shown about a job, 0 if there is none to remember. */
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
    // Of two answers at once the older one may come to this last.
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
 * The sequence up to which a read model has to have come, to be asked about a job; null where there is no such job.
 * With the log away what was projected is answered, of jobs that were projected.
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
    if (failure instanceof Unavailable && (await isProjected())) return 0;
    throw failure;
  }
}

/** The read models that show what was sent, or to whom. */
const showing = ["jobs", "logs", "recipients", "dead-letters"];

/**
 * Waits a little until no read model shows what was just erased, whoever asks. One that is away has not forgotten it,
 * and does so before it goes on: the event stands in the log.
 */
export async function untilForgotten(readPosition: ReadPosition, sequence: number): Promise<void> {
  await Promise.allSettled(showing.map((projection) => caughtUp(readPosition, projection, sequence)));
}
