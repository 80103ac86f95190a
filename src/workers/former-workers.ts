import { setTimeout as pause } from "node:timers/promises";
import type { JobEvent } from "../domain/job/events.ts";
import type { RecipientEvent } from "../domain/recipients/events.ts";
import type { EventLog, JobRef, StoredEvent } from "../event-log/event-log.ts";
import { answersHoldMs, type LeaseAnswer, type LeaseProbe } from "./lease.ts";

/** What those who worked on a job under its last lease, its holder and its helpers, are known to do now. */
export type FormerWorkers =
  /** One of them is at it: the job must not be taken over. */
  | "at-work"
  /** One of them died, is frozen, or is cut off; it may believe in the lease for `answersHoldMs` once that is lost. */
  | "silent"
  /** None is at it, and none begins again. */
  | "gone";

type Ports = { readonly log: EventLog; readonly probe: LeaseProbe; readonly worker: string };

/**
 * Asks the holder of the last lease. A holder that lives ends its turn after its helpers, and so does one that decided the
 * end of its lease. Otherwise the helpers are those that claimed recipients under the lease, and they are asked, too.
 */
export async function askFormerWorkers(
  { log, probe, worker }: Ports,
  job: JobRef,
  decisions: readonly StoredEvent<JobEvent>[],
): Promise<FormerWorkers> {
  const start = lastStart(decisions);
  if (start === null) return "gone";
  const ask = async (one: string): Promise<LeaseAnswer> => (one === worker ? "over" : await probe.ask(one, job));
  const answer = await ask(start.worker);
  if (answer === "running") return "at-work";
  if (answer === "over" && start.worker !== worker) return "gone";
  if (decisions.some(({ sequence, event }) => sequence > start.sequence && endsLease(event))) return "gone";
  const helpers = helpersSince(await log.readRecipients(job), start.sequence).filter((one) => one !== start.worker);
  const answers = [answer, ...(await Promise.all(helpers.map(ask)))];
  if (answers.includes("running")) return "at-work";
  return answers.includes("silent") ? "silent" : "gone";
}

/**
 * Returns once no former worker can begin a mail any more, with the lease of this worker in the log; false where the
 * signal ended the wait. Called where one of them was silent.
 *
 * A worker begins a mail only within `answersHoldMs` after a question to the log whether the lease stands, and after its
 * claim was stored. So from then on the log names each helper that may have a mail on its way, also one that had just got
 * its first recipients when the holder died: it is asked now.
 */
export async function outwaitFormerWorkers(
  ports: Ports,
  job: JobRef,
  decisions: readonly StoredEvent<JobEvent>[],
  stopping: AbortSignal,
): Promise<boolean> {
  const rest = (): Promise<unknown> => pause(answersHoldMs, undefined, { signal: stopping }).catch(() => {});
  await rest();
  while (!stopping.aborted && (await askFormerWorkers(ports, job, decisions)) === "at-work") await rest();
  return !stopping.aborted;
}

/** The last lease that was taken of a job; null if there was none. */
function lastStart(
  decisions: readonly StoredEvent<JobEvent>[],
): { readonly worker: string; readonly sequence: number } | null {
  const started = decisions.findLast(({ event }) => event.type === "JobStarted");
  if (started?.event.type !== "JobStarted") return null;
  return { worker: started.event.data.worker, sequence: started.sequence };
}

/** A decision of the holder: it has ended its turn before, with its helpers. */
const endsLease = ({ type }: JobEvent): boolean =>
  type === "JobReleased" || type === "JobRetryScheduled" || type === "JobCompleted";

function helpersSince(facts: readonly StoredEvent<RecipientEvent>[], sequence: number): string[] {
  const workers = facts.flatMap((fact) =>
    fact.sequence >= sequence && fact.event.type === "RecipientsClaimed" ? [fact.event.data.worker] : [],
  );
  return [...new Set(workers)];
}
