import { handleCommand } from "../commands/handle-command.ts";
import { isContentErased } from "../domain/job/erase-content.ts";
import type { Instant } from "../domain/message.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";
import { completeErasure, type ErasurePorts } from "./complete-erasure.ts";
import { type AddressErasureRequest, placesOf } from "./erase-address.ts";
import type { StoredThing, StoredThings } from "./stored-things.ts";

export type LeftoversErased = {
  readonly erased: number;
  /** Jobs that a request may be about to create. */
  readonly notEnded: readonly string[];
};

/** A slower request loses its content: if it ever goes on, it creates its job under another id. */
const patienceMs = 60_000;
const atOnce = 32;

/**
 * Erases content that requests have stored for an address without creating a job; no read model knows it. Looks at the
 * content that the sweeper has not settled yet, which is that of one day; the sweeper erases what is older.
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
 * Erases what is stored for a job that was never created, or whose history says that its content is erased: the request
 * died, or came too late. The decision is recorded first, with the same guard as the creation of a job: a request that
 * was suspended between storing and creating loses, and stores its content anew for another job. The content of a job
 * that was created is left alone. Returns the sequence of the decision if there was something to erase, else null.
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
