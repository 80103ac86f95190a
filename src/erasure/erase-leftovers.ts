import { handleCommand, handleMailingCommand } from "../commands/handle-command.ts";
import { readJob, readMailing, readSchedule } from "../commands/read-version.ts";
import { decodeContent } from "../content/encode-content.ts";
import { eraseContent } from "../content/stored-content.ts";
import { isContentErased } from "../domain/job/erase-content.ts";
import { type KnownPart, keepsPart } from "../domain/mailing/state.ts";
import type { Instant } from "../domain/message.ts";
import { keepsTemplate } from "../domain/schedule/decider.ts";
import type { Cause, EventLog, JobRef } from "../event-log/event-log.ts";
import { Archived } from "../event-log/log-failures.ts";
import { completeErasure, type ErasurePorts } from "./complete-erasure.ts";
import { type AddressErasureRequest, eraseAddress, placesOf } from "./erase-address.ts";
import type { StoredThing, StoredThings } from "./stored-things.ts";

export type LeftoversErased = {
  readonly erased: number;
  /** Jobs that a request may be about to create, and parts of mailings that have not ended. */
  readonly notEnded: readonly string[];
  /** These mailings. */
  readonly mailings: readonly string[];
};

type Stored = { readonly job: JobRef; readonly storedAtMs: number };

/** A slower request loses its content: if it ever goes on, it creates its job under another id. */
const patienceMs = 60_000;
const atOnce = 32;

/**
 * Erases content that requests have stored for an address without creating a job; no read model knows it. Looks at the
 * content that the sweeper has not settled yet, which is that of one day; the sweeper erases what is older. So it also finds
 * jobs that were made after `since`, when a read model was asked for those with the address: of a row of the outbox, or of
 * a job that was requeued, which held the address before.
 */
export async function eraseLeftovers(
  ports: ErasurePorts & { readonly storedThings: Pick<StoredThings, "unsettledOf"> },
  tenant: string,
  request: AddressErasureRequest,
  since: number,
): Promise<LeftoversErased> {
  return await eraseWhereNamed(ports, ports.storedThings.unsettledOf(tenant), request, since);
}

/**
 * Looks for an address in the parts of mailings that are not jobs yet, however old they are. No read model holds their
 * recipients, so this reads the content of every such part. The parts of a mailing that has not ended will be mailed, and are
 * named as open jobs are; those of a cancelled mailing are erased.
 */
export async function eraseUnmadeParts(
  ports: ErasurePorts,
  mailings: readonly JobRef[],
  request: AddressErasureRequest,
): Promise<LeftoversErased> {
  return await eraseWhereNamed(ports, unmadePartsOf(ports, mailings), request, Number.POSITIVE_INFINITY);
}

/** No request is about to make a job of them: the age does not matter. */
async function* unmadePartsOf({ log }: ErasurePorts, mailings: readonly JobRef[]): AsyncGenerator<Stored> {
  for (const mailing of mailings) {
    // The archive has only what has ended, and waits for the listener that erases the parts of what was cancelled.
    const parts = await unlessArchived(partsOf(log, mailing), []);
    for (const { jobId, counts } of parts) if (counts === null) yield { job: { ...mailing, jobId }, storedAtMs: 0 };
  }
}

async function partsOf(log: EventLog, mailing: JobRef): Promise<readonly KnownPart[]> {
  const { state } = await readMailing(log, mailing);
  return state.status === "absent" ? [] : state.parts;
}

/** The other value for what stands in a file of the archive that is not at hand. */
async function unlessArchived<Value>(asked: Promise<Value>, otherwise: Value): Promise<Value> {
  try {
    return await asked;
  } catch (failure) {
    if (failure instanceof Archived) return otherwise;
    throw failure;
  }
}

/** Of these contents, those of which no job was made, and those of jobs that were decided about after `since`. */
async function eraseWhereNamed(
  ports: ErasurePorts,
  contents: AsyncIterable<Stored>,
  request: AddressErasureRequest,
  since: number,
): Promise<LeftoversErased> {
  const { log, contentStore } = ports;
  const { address, reason, cause, at } = request;
  const notEnded: string[] = [];
  const mailings = new Set<string>();
  let erased = 0;
  // What is archived was decided long ago.
  const lastDecision = (job: JobRef): Promise<number> => unlessArchived(log.lastDecision(job), 1);
  const look = async ({ job, storedAtMs }: Stored): Promise<void> => {
    const isForJobs = since < Number.POSITIVE_INFINITY;
    // The log costs less than the content of a job; but of the parts that a cancelled mailing has left there is no content.
    if (isForJobs && isWithin(await lastDecision(job), since)) return;
    const content = await contentStore.get(job);
    if (content === null || placesOf(content, address).length === 0) return;
    const decidedAt = await lastDecision(job);
    if (isWithin(decidedAt, since)) return;
    if (decidedAt > 0) {
      const { outcome } = await eraseAddress(ports, job, request);
      if (outcome === "not-ended") notEnded.push(job.jobId);
      if (outcome === "erased") erased += 1;
      return;
    }
    if (storedAtMs <= Date.now() - patienceMs) {
      const sequence = await eraseLeftover(ports, { job, attachment: null }, { reason, cause, at });
      if (sequence !== null) erased += 1;
      if ((await log.lastDecision(job)) > 0) return;
      // It belongs to a mailing that has not ended: see keptByMailing.
    }
    notEnded.push(job.jobId);
    const { mailingId } = decodeContent(content);
    if (typeof mailingId === "string") mailings.add(mailingId);
  };
  let looking: Promise<void>[] = [];
  for await (const stored of contents) {
    looking.push(look(stored));
    if (looking.length < atOnce) continue;
    await Promise.all(looking);
    looking = [];
  }
  await Promise.all(looking);
  return { erased, notEnded, mailings: [...mailings] };
}

/**
 * Erases what is stored for a job that was never created, or whose history says that its content is erased: the request
 * died, or came too late. The decision is recorded first, with the same guard as the creation of a job: a request that
 * was suspended between storing and creating loses, and stores its content anew for another job. The content of a job
 * that was created is left alone, as is that of a mailing. Returns the sequence of the decision if there was something to
 * erase, else null.
 */
export async function eraseLeftover(
  ports: ErasurePorts,
  { job, attachment }: StoredThing,
  request: LeftoverErasureRequest,
): Promise<number | null> {
  const { reason, cause, at } = request;
  const from = await readJob(ports.log, job);
  if (from.state.status === "absent" && !from.state.isAbandoned) {
    const content = await ports.contentStore.get(job);
    const { mailingId, scheduleId } = content === null ? {} : decodeContent(content);
    if (scheduleId !== undefined && (await keptBySchedule(ports, { ...job, jobId: scheduleId }, job))) return null;
    if (mailingId === null) return await eraseLetter(ports, job, request);
    if (mailingId !== undefined && (await keptByMailing(ports, { ...job, jobId: mailingId }, job, request)))
      return null;
  }
  const outcome = await handleCommand(ports.log, job, { type: "AbandonJob", at, reason }, cause, { from });
  if (outcome.outcome === "rejected" || !isContentErased(outcome.state)) return null;
  await completeErasure(ports, job);
  if (attachment !== null) await ports.contentStore.attachments.erase(job, attachment);
  return outcome.sequence;
}

/** The letter of a mailing that was never created. */
async function eraseLetter(
  { log, contentStore }: ErasurePorts,
  mailing: JobRef,
  { reason, cause, at }: LeftoverErasureRequest,
): Promise<number | null> {
  const outcome = await handleMailingCommand(log, mailing, { type: "AbandonMailing", at, reason }, cause);
  if (outcome.outcome === "rejected" || outcome.state.status !== "absent") return null;
  await eraseContent(contentStore, mailing);
  return outcome.sequence;
}

/**
 * Whether a mailing that has not ended names the part. One that no import has added can then not be added any more: the
 * decision makes an import conflict that was suspended before it could add the part.
 */
async function keptByMailing(
  { log }: ErasurePorts,
  mailing: JobRef,
  { jobId }: JobRef,
  { cause, at }: LeftoverErasureRequest,
): Promise<boolean> {
  const outcome = await handleMailingCommand(log, mailing, { type: "AbandonPart", at, jobId }, cause);
  return outcome.outcome === "accepted" && keepsPart(outcome.state, jobId);
}

/** Whether it is the template of a schedule. Of a request that is not over yet it is not: that one stores it again. */
async function keptBySchedule({ log }: ErasurePorts, schedule: JobRef, { jobId }: JobRef): Promise<boolean> {
  return keepsTemplate((await readSchedule(log, schedule)).state, jobId);
}

const isWithin = (decidedAt: number, since: number): boolean => decidedAt > 0 && decidedAt <= since;

type LeftoverErasureRequest = { readonly reason: string; readonly cause: Cause; readonly at: Instant };
