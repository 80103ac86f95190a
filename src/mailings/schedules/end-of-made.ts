import { foldDecisions, foldMailing } from "../../commands/read-version.ts";
import { isJobEnd } from "../../domain/job/events.ts";
import { hasEnded } from "../../domain/job/hold-back.ts";
import { hasMailingEnded } from "../../domain/mailing/state.ts";
import type { Instant } from "../../domain/message.ts";
import type { EventLog, JobRef } from "../../event-log/event-log.ts";
import { Archived } from "../../event-log/log-failures.ts";

/** When it ended is null where nobody needs to know any more. */
export type EndOfMade = { readonly endedAt: Instant | null };

/**
 * The end of a job or a mailing; null as long as it has not ended, or is yet to be made. A mailing that waits for a person,
 * as a draft that was taken back or for its approval, has not ended.
 */
export async function endOfMade(log: EventLog, made: JobRef): Promise<EndOfMade | null> {
  try {
    // The schedule may make the other of the two by now: what it made says itself what it is.
    return (await endOfJob(log, made)) ?? (await endOfMailing(log, made));
  } catch (failure) {
    // What is archived has ended long ago.
    if (failure instanceof Archived) return { endedAt: null };
    throw failure;
  }
}

async function endOfJob(log: EventLog, job: JobRef): Promise<EndOfMade | null> {
  const decisions = await log.readDecisions(job);
  const { state } = foldDecisions(decisions);
  if (state.status === "absent" || !hasEnded(state)) return null;
  return { endedAt: decisions.findLast(({ event }) => isJobEnd(event))?.event.at ?? null };
}

async function endOfMailing(log: EventLog, mailing: JobRef): Promise<EndOfMade | null> {
  const { state } = foldMailing(await log.readMailing(mailing));
  return state.status === "absent" || !hasMailingEnded(state) ? null : { endedAt: state.endedAt };
}
