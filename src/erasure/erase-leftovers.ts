import { handleCommand } from "../commands/handle-command.ts";
import { isContentErased } from "../domain/job/erase-content.ts";
import type { Instant } from "../domain/message.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";
import { completeErasure, type ErasurePorts } from "./complete-erasure.ts";
import { type AddressErasureRequest, placesOf } from "./erase-address.ts";
import type { StoredThing, StoredThings } from "./stored-things.ts";

export type LeftoversErased = {
  readonly erased: number;
  /** The request may be about to create the job. */
  readonly notEnded: readonly string[];
};

/** A request that takes longer is given up: it creates its job under another id, if it ever goes on. */
const patienceMs = 60_000;
const atOnce = 32;

/**
 * Erases what requests have stored for an address without ever creating their job, which no read model knows. Looks at
 * what nobody has looked at yet, which is that of a day; the sweeper does away with what is older.
 */
export async function eraseLeftovers(
  ports: ErasurePorts & { readonly storedThings: Pick<StoredThings, "unsettledOf"> },
  tenant: string,
  { address, reason, cause, at }: AddressErasureRequest,
): Promise<LeftoversErased> {
  const { log, contentStore, storedThings } = ports;
  const notEnded: string[] = [];
  let erased = 0;
  const look = async (job: JobRef, storedAtMs: number): Promise<void> => {
    if ((await log.lastDecision(job)) > 0) return;
    const content = await contentStore.get(job);
    if (content === null || placesOf(content, address).length === 0) return;
    if (storedAtMs > Date.now() - patienceMs) notEnded.push(job.jobId);
    else if ((await eraseLeftover(ports, { job, attachment: null }, { reason, cause, at })) !== null) erased += 1;
  };
  let looking: Promise<void>[] = [];
  for await (const { job, storedAtMs } of storedThings.unsettledOf(tenant)) {
    looking.push(look(job, storedAtMs));
    if (looking.length < atOnce) continue;
    await Promise.all(looking);
    looking = [];
  }
  await Promise.all(looking);
  return { erased, notEnded };
}

type LeftoverErasureRequest = { readonly reason: string; readonly cause: Cause; readonly at: Instant };

/**
 * Erases what is stored for a job that was never created, or whose history says that nothing is to be left of it: a
 * request died, or came too late. It is decided first, guarded like the creation of the job: a request that has stood
 * still between the two all this time loses, and stores its content anew for another job. What belongs to a job that was
 * created is left alone. Answers the sequence of the decision where there was something to erase, else null.
 */
export async function eraseLeftover(
  ports: ErasurePorts,
  { job, attachment }: StoredThing,
  { reason, cause, at }: LeftoverErasureRequest,
): Promise<number | null> {
  const outcome = await handleCommand(ports.log, job, { type: "AbandonJob", at, reason }, cause);
  if (outcome.outcome === "rejected" || !isContentErased(outcome.state)) return null;
  await completeErasure(ports, job);
  if (attachment !== null) await ports.contentStore.attachments.erase(job, attachment);
  return outcome.sequence;
}
