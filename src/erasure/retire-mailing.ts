import { handleMailingCommand } from "../commands/handle-command.ts";
import type { Instant } from "../domain/message.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";
import { completeLetterErasure, type ErasurePorts } from "./complete-erasure.ts";

type Retirement = {
  readonly restingBefore: Instant;
  readonly reason: string;
  readonly cause: Cause;
  readonly at: Instant;
};

/**
 * Erases the letter of a mailing that has ended, or of a draft, if nothing was to be done for it since before that time, and
 * takes it out of the lists. A draft is cancelled by it, so that whoever makes the parts of mailings erases them. After a
 * crash in between, the eraser completes the erasure. Returns the sequence of the decision; null if there was none.
 */
export async function retireMailing(
  ports: ErasurePorts,
  mailing: JobRef,
  { restingBefore, reason, cause, at }: Retirement,
): Promise<number | null> {
  const command = { type: "RetireMailing", at, restingBefore, reason } as const;
  const outcome = await handleMailingCommand(ports.log, mailing, command, cause);
  if (outcome.outcome === "rejected" || outcome.state.status === "absent" || !outcome.state.isErased) return null;
  await completeLetterErasure(ports, mailing);
  return outcome.sequence;
}
