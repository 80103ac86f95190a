import { setTimeout as pause } from "node:timers/promises";
import type { JobEvent } from "../domain/job/events.ts";
import type { RecipientEvent } from "../domain/recipients/events.ts";
import type { EventLog, JobRef, StoredEvent } from "../event-log/event-log.ts";
import { isOutage, persistently } from "../event-log/persistently.ts";
import { answersHoldMs, type LeaseAnswer, type LeaseProbe } from "./lease.ts";

/** What those who worked on a job under its last lease, its holder and its helpers, are known to do now. */
export type FormerWorkers =
  /** One of them is at it: the job must not be taken over. */
  | "at-work"
  /** One of them died, is frozen, or is cut off; it may believe in the lease for `answersHoldMs` once that is lost. */
  | "silent"
  /** None is at it, and none begins again. */
  | "gone";

type Ports = {
  readonly log: EventLog;
  readonly probe: LeaseProbe;
  readonly worker: string;
  /** False for a job that is never shared. */
  readonly mayHaveHelpers: boolean;
};

/**
 * Asks the holder of the last lease, and those who helped. A holder that lives has ended its turn after its helpers, and so
 * has one that decided the end of its lease: then only workers whose claims have no outcome are asked, as one that was cut
 * off may be back. Otherwise a worker that claimed recipients under the lease may claim more.
 */
export async function askFormerWorkers(
  { log, probe, worker, mayHaveHelpers }: Ports,
  job: JobRef,
  decisions: readonly StoredEvent<JobEvent>[],
): Promise<FormerWorkers> {
  const start = lastStart(decisions);
  if (start === null) return "gone";
  const ask = async (one: string): Promise<LeaseAnswer> => (one === worker ? "over" : await probe.ask(one, job));
  const answer = await ask(start.worker);
  if (answer === "running") return "at-work";
  const hasEnded =
    (answer === "over" && start.worker !== worker) ||
    decisions.some(({ sequence, event }) => sequence > start.sequence && endsLease(event));
  const facts = mayHaveHelpers ? await log.readRecipients(job) : [];
  const helpers = new Set([...claimantsInDoubt(facts), ...(hasEnded ? [] : claimantsSince(facts, start.sequence))]);
  helpers.delete(start.worker);
  const answers = [answer, ...(await Promise.all([...helpers].map(ask)))];
  if (answers.includes("running")) return "at-work";
  return !hasEnded && answers.includes("silent") ? "silent" : "gone";
}

/** What came of the wait for former workers. */
type Outwaited = "gone" | "stopping" | "lease-lost";

/**
 * Returns once no former worker can begin a mail any more, with the lease of this worker in the log. Called where one of
 * them was silent. Another worker may take this one for dead meanwhile, and wait for it in its turn.
 *
 * A worker begins a mail only within `answersHoldMs` after a question to the log whether the lease stands, and after its
 * claim was stored. So from then on the log names each helper that may have a mail on its way, also one that had just got
 * its first recipients when the holder died: it is asked now.
 */
export async function outwaitFormerWorkers(
  ports: Ports,
  job: JobRef,
  decisions: readonly StoredEvent<JobEvent>[],
  leaseSequence: number,
  stopping: AbortSignal,
): Promise<Outwaited> {
  const rest = (): Promise<unknown> => pause(answersHoldMs, undefined, { signal: stopping }).catch(() => {});
  // A lease that is left behind because the log was away for a moment counts as a takeover, and there may be five.
  const isAtWork = () =>
    persistently(stopping, async () => (await askFormerWorkers(ports, job, decisions)) === "at-work");
  const last = () => persistently(stopping, () => ports.log.lastDecision(job));
  await rest();
  try {
    while (!stopping.aborted && (await isAtWork())) {
      if ((await last()) !== leaseSequence) return "lease-lost";
      await rest();
    }
  } catch (failure) {
    if (!stopping.aborted || !isOutage(failure)) throw failure;
  }
  return stopping.aborted ? "stopping" : "gone";
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

const claimantsSince = (facts: readonly StoredEvent<RecipientEvent>[], start: number): string[] =>
  facts.flatMap(({ sequence, event }) =>
    sequence >= start && event.type === "RecipientsClaimed" ? [event.data.worker] : [],
  );

/** Those whose claims have neither an outcome nor been taken back. */
function claimantsInDoubt(facts: readonly StoredEvent<RecipientEvent>[]): Iterable<string> {
  const claimants = new Map<number, string>();
  for (const { event } of facts) {
    if (event.type === "RecipientsClaimed") {
      for (const recipient of event.data.recipients) claimants.set(recipient, event.data.worker);
    } else if (event.type === "RecipientsReleased") {
      for (const recipient of event.data.recipients) claimants.delete(recipient);
    } else claimants.delete(event.data.recipient);
  }
  return claimants.values();
}
