import { isDecision } from "../../src/event-log/select-events.ts";
import type { Entry } from "./shared-log.ts";

/**
 * How often a job may be taken over within one attempt while its workers get no further: src/domain/job/lease.ts says so,
 * and here it is said once more.
 */
const mostTakeovers = 5;

/** What is wrong with how often a job was taken over; in a calm world it never is. */
export function faultsOfTakeovers(jobId: string, history: readonly Entry[], isCalm: boolean): string[] {
  const faults: string[] = [];
  let attempt = "";
  let isHeld = false;
  let takeovers = 0;
  let sinceOutcome = 0;
  /** Under how many leases each recipient without an outcome was claimed. */
  const leases = new Map<number, number>();
  for (const entry of history) {
    const { event, sequence } = entry;
    if (event.type === "RecipientsClaimed") {
      for (const recipient of event.data.recipients) leases.set(recipient, (leases.get(recipient) ?? 0) + 1);
    } else if (event.type === "RecipientsReleased") {
      for (const recipient of event.data.recipients) leases.delete(recipient);
    } else if ("recipient" in event.data) {
      leases.delete(event.data.recipient);
      sinceOutcome = 0;
    }
    if (event.type === "JobStarted") {
      const started = `${event.data.run}/${event.data.attempt}`;
      if (started !== attempt) [takeovers, sinceOutcome] = [0, 0];
      else if (isHeld) [takeovers, sinceOutcome] = [takeovers + 1, sinceOutcome + 1];
      attempt = started;
      const longestInDoubt = Math.max(0, ...leases.values());
      if (sinceOutcome > mostTakeovers || (takeovers > mostTakeovers && longestInDoubt > mostTakeovers))
        faults.push(`${jobId} was taken over once more than it may be at #${sequence}`);
      if (takeovers > 0 && isCalm)
        faults.push(`${jobId} was taken over at #${sequence} from a worker that had not died`);
    }
    if (event.type === "JobFailed" && event.data.error.code === "too-many-takeovers" && takeovers < mostTakeovers) {
      faults.push(`${jobId} failed at #${sequence} as if it had been taken over more than ${takeovers} times`);
    }
    if (isDecision(entry)) isHeld = event.type === "JobStarted";
  }
  return faults;
}
