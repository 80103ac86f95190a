import { accepted, type Decision, rejected } from "../decider.ts";
import type { JobCommand } from "./commands.ts";
import type { JobRejection, JobState } from "./decider.ts";
import type { Erasure, JobEvent, JobSettings } from "./events.ts";
import { hasEnded } from "./hold-back.ts";
import type { EventOfJob } from "./job-view.ts";

type Existing = Exclude<JobState, { status: "absent" }>;
type EraseContent = Extract<JobCommand, { type: "EraseContent" }>;

/** All that was erased of a job so far. */
export type Erased = {
  readonly isWhole: boolean;
  /** Whose address was erased by itself. */
  readonly recipients: readonly number[];
  readonly isRetired: boolean;
};

export const nothingErased: Erased = { isWhole: false, recipients: [], isRetired: false };

/** Of a job that has not ended somebody may still be mailed: it is cancelled first, or waited for. */
export function erase(command: EraseContent, state: Existing): Decision<JobEvent, JobRejection> {
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
 * Decides that content was stored for nothing. As it is guarded like the creation, one of the two is refused: content is
 * erased by this decision alone, so no job can be without the content that was stored for it.
 */
export function abandon(
  { at, reason }: Extract<JobCommand, { type: "AbandonJob" }>,
  state: JobState,
): Decision<JobEvent, JobRejection> {
  if (state.status !== "absent" || state.isAbandoned) return accepted();
  const data = { recipients: null, contentSha256: null, isRetired: false, reason };
  return accepted({ type: "JobContentErased", at, data });
}

/** Whether the history says that nothing of what was stored for the job is to be left. */
export const isContentErased = (state: JobState): boolean =>
  state.status === "absent" ? state.isAbandoned : state.erased.isWhole;

export const erasedAfter = (before: Erased, { recipients, isRetired }: Erasure): Erased => ({
  isWhole: before.isWhole || recipients === null,
  recipients: [...before.recipients, ...(recipients ?? [])],
  isRetired: before.isRetired || isRetired,
});

/** From then on the content that is left is the one that the job goes by. */
export const settingsAfter = (settings: JobSettings, { contentSha256 }: Erasure): JobSettings =>
  contentSha256 === null ? settings : { ...settings, contentSha256 };

/** Whether it leaves nothing of what was sent and to whom. */
export const isWholeErasure = (event: EventOfJob): boolean =>
  event.type === "JobContentErased" && event.data.recipients === null;
