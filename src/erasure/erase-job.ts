import { type CommandOutcome, handleCommand } from "../commands/handle-command.ts";
import type { Instant } from "../domain/message.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";
import { completeErasure, type ErasurePorts } from "./complete-erasure.ts";

type JobErasureRequest = {
  /** Whether the job also disappears from every list. */
  readonly isRetired: boolean;
  readonly reason: string | null;
  readonly cause: Cause;
  readonly at: Instant;
};

/**
 * Erases the content and the recipients of a job that has ended. The decision is recorded first, so that the job cannot
 * be run again meanwhile. After a crash in between, the eraser or a repeated request completes the erasure.
 */
export async function eraseJob(
  ports: ErasurePorts,
  job: JobRef,
  { isRetired, reason, cause, at }: JobErasureRequest,
): Promise<CommandOutcome> {
  const command = { type: "EraseContent", at, recipients: null, contentSha256: null, isRetired, reason } as const;
  const outcome = await handleCommand(ports.log, job, command, cause);
  if (outcome.outcome === "accepted") await completeErasure(ports, job);
  return outcome;
}
