import { type CommandOutcome, handleCommand } from "../commands/handle-command.ts";
import type { Instant } from "../domain/message.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";
import { completeErasure, type ErasurePorts } from "./complete-erasure.ts";

type JobErasureRequest = {
  /** Whether it also leaves every list. */
  readonly isRetired: boolean;
  readonly reason: string | null;
  readonly cause: Cause;
  readonly at: Instant;
};

/**
 * Erases all that a job that has ended sent and to whom. It is decided first, so that nobody can run the job again
 * meanwhile; a crash in between leaves it to the eraser, and whoever asks again completes it as well.
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
