import { accepted, rejected } from "../decider.ts";
import type { Erasure, JobSettings } from "./events.ts";
import { hasEnded } from "./hold-back.ts";
import type { CommandOf, Erased, Existing, JobDecision, JobState } from "./state.ts";

export const nothingErased: Erased = { isWhole: false, recipients: [], isRetired: false };

/** A job that has not ended may still mail its recipients: cancel it first, or wait for its end. */
export function erase(command: CommandOf<"EraseContent">, state: Existing): JobDecision {
  if (!hasEnded(state)) return rejected({ code: "job-has-not-ended", currentStatus: state.status });
  const { at, recipients, contentSha256, isRetired, reason } = command;
  const { erased } = state;
  if (isRetired ? erased.isRetired : erased.isWhole) return accepted();
  if (recipients === null) {
    const data = { recipients, contentSha256: null, isRetired, reason };
    return accepted({ type: "JobContentErased", at, data });
  }
  const others = recipients.filter((recipient) => !erased.recipients.includes(recipient));
  if (others.length === 0) return accepted();
  return accepted({ type: "JobContentErased", at, data: { recipients: others, contentSha256, isRetired, reason } });
}

/**
 * Decides that content was stored for nothing. It has the same guard as the creation, so one of the two is refused:
 * this decision alone erases content, so no job can lack the content that was stored for it.
 */
export function abandon({ at, reason }: CommandOf<"AbandonJob">, state: JobState): JobDecision {
  if (state.status !== "absent" || state.isAbandoned) return accepted();
  const data = { recipients: null, contentSha256: null, isRetired: false, reason };
  return accepted({ type: "JobContentErased", at, data });
}

/** Whether the history decides that nothing stored for the job may remain. */
export const isContentErased = (state: JobState): boolean =>
  state.status === "absent" ? state.isAbandoned : state.erased.isWhole;

export const erasedAfter = (before: Erased, { recipients, isRetired }: Erasure): Erased => ({
  isWhole: before.isWhole || recipients === null,
  recipients: [...before.recipients, ...(recipients ?? [])],
  isRetired: before.isRetired || isRetired,
});

/** From then on the remaining content is the valid one of the job. */
export const settingsAfter = (settings: JobSettings, { contentSha256 }: Erasure): JobSettings =>
  contentSha256 === null ? settings : { ...settings, contentSha256 };
