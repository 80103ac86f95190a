import { foldDecisions, readMailing } from "../commands/read-version.ts";
import type { ContentStore } from "../content/content-store.ts";
import { decodeContent, encodeContent } from "../content/encode-content.ts";
import type { ResultStore } from "../content/result-store.ts";
import { eraseContent, eraseResult } from "../content/stored-content.ts";
import type { JobEvent } from "../domain/job/events.ts";
import { replacedBy } from "../domain/schedule/events.ts";
import { type EventLog, isOfSchedule, type JobRef, type StoredEvent } from "../event-log/event-log.ts";
import type { Listener } from "../event-log/following/listener.ts";
import { findKind } from "../job-kinds/all-job-kinds.ts";
import type { SuppressionList } from "../suppressions/suppression-list.ts";

export type AddressInOutbox = {
  /** The number of rows from which the address was erased. */
  readonly erased: number;
  /** Ids of the jobs that waiting rows with the address will become. */
  readonly waiting: readonly string[];
};

/** The job that a row became, and the event that created it. */
export type JobOfRow = { readonly jobId: string; readonly created: Extract<JobEvent, { type: "JobCreated" }> };

/**
 * The texts in settled rows of the outbox: requests, which hold content and recipients, and problems, which quote them.
 * Only the application still needs them. The rows stay, with a request that says when it was erased. Both methods are
 * idempotent, and throw what the database threw.
 */
export interface OutboxRequests {
  /**
   * Erases the request of a tenant's row that became a job. A row that still waits, because no relay has written down yet
   * what became of it, is settled first. One that waits with another request, or is gone, is left alone.
   */
  eraseRow(tenant: string, rowId: string, became: JobOfRow): Promise<void>;

  /** Erases every request of the tenant's rows that names the address, in any spelling. It scans the whole table. */
  eraseAddress(tenant: string, address: string): Promise<AddressInOutbox>;
}

export type ErasurePorts = {
  readonly log: EventLog;
  readonly contentStore: ContentStore;
  readonly results: Pick<ResultStore, "get" | "piecesOf" | "erase">;
  readonly outbox: Pick<OutboxRequests, "eraseRow">;
  readonly suppressions: Pick<SuppressionList, "forgetAddressesOf">;
};

/**
 * Carries out the recorded erasures of a job's content: it overwrites what is to be erased and leaves the rest. It is
 * idempotent: after a crash, or in two processes at once, the result is the same.
 */
export async function completeErasure(ports: ErasurePorts, job: JobRef): Promise<void> {
  const { log, contentStore, results, outbox } = ports;
  const decisions = await log.readDecisions(job);
  const { state } = foldDecisions(decisions);
  if (state.status === "absent") {
    if (state.isAbandoned) await eraseContent(contentStore, job);
    return;
  }
  const { erased, settings } = state;
  // First, because the addresses are unknown afterwards.
  if (erased.isWhole || erased.recipients.length > 0) await forgetSuppressed(ports, job, erased);
  if (erased.isWhole) {
    const kind = findKind(settings.type);
    // A job of a kind that only a newer release knows may have one, and that release does not come back to it.
    if (kind === undefined || kind.file !== undefined) await eraseResult(results, job);
    await eraseContent(contentStore, job);
  } else if (erased.recipients.length > 0) {
    await contentStore.rewrite(job, (content) => withoutRecipients(content, erased.recipients));
  } else return;
  // Last, because the database may be down: then only the row has to wait for it.
  const [first] = decisions;
  const rowId = rowOf(first);
  if (rowId !== null && first?.event.type === "JobCreated")
    await outbox.eraseRow(job.tenant, rowId, { jobId: job.jobId, created: first.event });
}

/** An erased address may be on the suppression list in clear text; its digest is enough there. */
async function forgetSuppressed(
  { contentStore, suppressions }: ErasurePorts,
  job: JobRef,
  { isWhole, recipients }: { readonly isWhole: boolean; readonly recipients: readonly number[] },
): Promise<void> {
  const content = await contentStore.get(job);
  if (content === null) return;
  const named = addressesIn(content);
  const emails = isWhole ? named : recipients.map((index) => named[index]);
  await suppressions.forgetAddressesOf(
    job,
    emails.filter((email) => email !== undefined && email !== null),
  );
}

/** Addresses by index, null for erased ones. Empty if the content cannot be read, which must not prevent its erasure. */
function addressesIn(content: Uint8Array): readonly (string | null)[] {
  try {
    return decodeContent(content).recipients.map((recipient) => recipient?.email ?? null);
  } catch {
    return [];
  }
}

/** The outbox row that a job was created from, whose request holds the content again; null for any other job. */
const rowOf = (created: StoredEvent | undefined): string | null =>
  created?.actor === "outbox" ? created.correlationId : null;

/** The content without those recipients. Their indices stay, because events name recipients by index. Deterministic to the byte. */
export function withoutRecipients(content: Uint8Array, indices: readonly number[]): Uint8Array {
  const gone = new Set(indices);
  const decoded = decodeContent(content);
  const recipients = decoded.recipients.map((recipient, index) => (gone.has(index) ? null : recipient));
  return encodeContent({ ...decoded, recipients });
}

/** The same of a recorded erasure of the letter of a mailing, which has no recipients. */
export async function completeLetterErasure({ log, contentStore }: ErasurePorts, mailing: JobRef): Promise<void> {
  const { state } = await readMailing(log, mailing);
  const isErased = state.status === "absent" ? state.isAbandoned : state.isErased;
  if (isErased) await eraseContent(contentStore, mailing);
}

/** After a failure; it may be the database alone that is away. */
const tryAgainMs = 5000;
const atOnce = 16;

/**
 * Makes sure that every recorded erasure is carried out: the process that records one carries it out at once, but may
 * die in between. The eraser usually finds nothing left to do; without a checkpoint it looks at all erasures ever recorded.
 */
export const createEraser = (ports: ErasurePorts): Listener => ({
  name: "eraser",
  beginAfter: () => 0,
  act: (decision) => {
    if (isOfSchedule(decision)) {
      const replaced = replacedBy(decision.event);
      return replaced === null ? null : eraseContent(ports.contentStore, { tenant: decision.tenant, jobId: replaced });
    }
    if (decision.event.type === "MailingContentErased") return completeLetterErasure(ports, decision);
    return decision.event.type === "JobContentErased" ? completeErasure(ports, decision) : null;
  },
  atOnce,
  tryAgainMs,
});
