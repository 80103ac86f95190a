import { jobDecider } from "../../src/domain/job/decider.ts";
import { foldJobView, type JobView, progressOf } from "../../src/domain/job/job-view.ts";
import type { JobState } from "../../src/domain/job/state.ts";
import type { Instant } from "../../src/domain/message.ts";
import { isDecision } from "../support/any-history.ts";
import type { Handover } from "./mail-world.ts";
import type { Entry } from "./shared-log.ts";

const ends: readonly JobView["status"][] = ["completed", "failed", "cancelled"];

/** What is wrong with a job once the world is healed and everything is quiet. */
export function faultsOfJob(
  jobId: string,
  history: readonly Entry[],
  handovers: readonly Handover[],
  isHeldBack: boolean,
): string[] {
  const view = foldJobView(history.map(({ event }) => event));
  if (view === null) return [`${jobId} was never created`];
  const faults: string[] = [];
  const isRight = (holds: boolean, fault: string): void => {
    if (!holds) faults.push(`${jobId} ${fault}`);
  };
  const { total, sent, failed, pending, deferred, unknown, suppressed } = progressOf(view);
  isRight(ends.includes(view.status) || view.status === "paused" || isHeldBack, `is left ${view.status}`);
  isRight(sent + failed + pending + deferred + unknown + suppressed === total, "has counters that do not add up");
  for (const start of wrongStarts(history)) faults.push(`${jobId} started at #${start.sequence} without its turn`);
  for (const end of endsOf(history)) isRight(end.isRight, `completed at #${end.sequence} with recipients left over`);
  for (let recipient = 0; recipient < total; recipient += 1) {
    const own = handovers.filter((handover) => handover.recipient === recipient);
    faults.push(...faultsOfRecipient(`${jobId} recipient ${recipient}`, view, recipient, history, own));
  }
  return faults;
}

/** Each JobStarted that was for another turn than the one that was open, or came before its time. */
function wrongStarts(history: readonly Entry[]): readonly Entry[] {
  let state: JobState = jobDecider.initialState;
  let dueAt: Instant | null = null;
  const wrong: Entry[] = [];
  for (const entry of history) {
    const { event } = entry;
    if (event.type === "JobStarted") {
      const isOpen = state.status !== "absent" && state.run === event.data.run && state.attempt === event.data.attempt;
      if (!isOpen || (dueAt !== null && event.at < dueAt)) wrong.push(entry);
    }
    if (event.type === "JobCreated") dueAt = event.data.scheduledAt;
    if (event.type === "JobRetryScheduled") dueAt = event.data.nextAttemptAt;
    if (event.type === "JobResumed") dueAt = event.data.notBefore;
    if (event.type === "JobRescheduled") dueAt = event.data.scheduledAt;
    if (event.type === "JobRetried") dueAt = null;
    if (isDecision(event)) state = jobDecider.evolve(state, event);
  }
  return wrong;
}

/** Each JobCompleted, and whether no recipient was left over in the log before it. */
function endsOf(history: readonly Entry[]): { readonly sequence: number; readonly isRight: boolean }[] {
  return history.flatMap(({ event, sequence }, index) => {
    if (event.type !== "JobCompleted") return [];
    const before = foldJobView(history.slice(0, index + 1).map((entry) => entry.event));
    // A recipient that the scope of a retry leaves out is pending, and is neither claimed nor expected.
    const counts = before === null ? null : progressOf(before);
    const isScoped = history.some((entry) => entry.event.type === "JobRetried" && entry.event.data.scope === "unknown");
    return [{ sequence, isRight: counts?.deferred === 0 && (isScoped || counts.pending === 0) }];
  });
}

function faultsOfRecipient(
  name: string,
  view: JobView,
  recipient: number,
  history: readonly Entry[],
  handovers: readonly Handover[],
): string[] {
  const faults: string[] = [];
  const taken = handovers.filter(({ isTaken }) => isTaken).length;
  const inDoubt = handovers.filter(({ isInDoubt }) => isInDoubt).length;
  const isSaidSent = history.some(({ event }) => event.type === "RecipientSent" && event.data.recipient === recipient);
  const wasAskedForAgain = history.some(({ event }) => event.type === "JobRetried" && event.data.scope === "unknown");
  if (isSaidSent && taken === 0) faults.push(`${name} is said to be sent and never was`);
  if (taken - 1 > inDoubt) faults.push(`${name} has ${taken} mails, ${inDoubt} were in doubt`);
  if (view.settings.onUnknown === "skip" && !wasAskedForAgain && taken > 1) {
    faults.push(`${name} has ${taken} mails, although what is in doubt is to be left alone`);
  }
  for (const { process, answer } of handovers.filter(isForgotten)) {
    faults.push(`${name} was tried by ${process.name}, answered "${answer}", and the log does not say so`);
  }
  return faults;
}

/**
 * What a worker was told stands in the log as long as the worker lives, for each time that it handed the mail over.
 * That the mail server is away is told of the attempt and not of a recipient.
 */
const isForgotten = ({ process, answer, isRecorded }: Handover): boolean =>
  answer !== null && answer !== "unavailable" && process.state === "alive" && !isRecorded;
