import { handleCommand } from "../commands/handle-command.ts";
import { isContentErased } from "../domain/job/erase-content.ts";
import type { Instant } from "../domain/message.ts";
import type { Cause } from "../event-log/event-log.ts";
import { completeErasure, type ErasurePorts } from "./complete-erasure.ts";
import type { StoredThing } from "./stored-things.ts";

type Wish = { readonly reason: string; readonly cause: Cause; readonly at: Instant };

/**
 * Erases what is stored for a job that was never created, or whose history says that nothing is to be left of it: a
 * request died, or came too late. It is decided first, guarded like the creation of the job: a request that has stood
 * still between the two all this time loses, and stores its content anew for another job. What belongs to a job that was
 * created is left alone. Answers the sequence of the decision where there was something to erase, else null.
 */
export async function eraseLeftover(
  ports: ErasurePorts,
  { job, attachment }: StoredThing,
  { reason, cause, at }: Wish,
): Promise<number | null> {
  const outcome = await handleCommand(ports.log, job, { type: "AbandonJob", at, reason }, cause);
  if (outcome.outcome === "rejected" || !isContentErased(outcome.state)) return null;
  await completeErasure(ports, job);
  if (attachment !== null) await ports.contentStore.attachments.erase(job, attachment);
  return outcome.sequence;
}
