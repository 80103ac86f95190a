import { foldDecisions } from "../commands/handle-command.ts";
import type { ContentStore } from "../content/content-store.ts";
import { decodeContent, encodeContent } from "../content/encode-content.ts";
import { eraseContent, eraseResult } from "../content/erase-content.ts";
import type { ResultStore } from "../content/result-store.ts";
import { actOnDecisions, type DecisionActor, type DecisionFeed } from "../event-log/decision-feed.ts";
import type { EventLog, JobRef, StoredEvent } from "../event-log/event-log.ts";
import { findKind } from "../job-kinds/all-job-kinds.ts";
import type { SuppressionList } from "../suppressions/suppression-list.ts";

export type AddressInOutbox = {
  /** Rows that named it, and do not any more. */
  readonly erased: number;
  /** Rows that name it and are still to become jobs. */
  readonly waiting: readonly string[];
};

/**
 * What stands in rows of the outbox that were dealt with: requests, which hold what was sent and to whom, and problems,
 * which quote them. Nobody but the application needs them any more. Rows stay, with a request that says when it was
 * erased. Done again, it comes to the same. Throws what the database threw.
 */
export interface OutboxRequests {
  /** Erases the request of a tenant's row; one that still waits, or is gone, is left as it is. */
  eraseRow(tenant: string, rowId: string): Promise<void>;

  /** Erases every request of a tenant's rows that names the address, in any case. It looks through the whole table. */
  eraseAddress(tenant: string, address: string): Promise<AddressInOutbox>;
}

export type ErasurePorts = {
  readonly log: EventLog;
  readonly contentStore: ContentStore;
  readonly results: Pick<ResultStore, "get" | "erase">;
  readonly outbox: Pick<OutboxRequests, "eraseRow">;
  readonly suppressions: Pick<SuppressionList, "forgetAddressesOf">;
};

/**
 * Does to a job's content what was decided about it: it overwrites what is to be erased and leaves the rest. Done again,
 * after a crash or at the same time by another process, it comes to the same.
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
  // First: afterwards nobody knows any more which addresses they were.
  if (erased.isWhole || erased.recipients.length > 0) await forgetSuppressed(ports, job, erased);
  if (erased.isWhole) {
    if (findKind(settings.type)?.file !== undefined) await eraseResult(log, results, job);
    await eraseContent(contentStore, job);
  } else if (erased.recipients.length > 0) {
    await contentStore.rewrite(job, (content) => withoutRecipients(content, erased.recipients));
  } else return;
  // Last, as the database may be away: what waits for it then is the row alone.
  const rowId = rowOf(decisions[0]);
  if (rowId !== null) await outbox.eraseRow(job.tenant, rowId);
}

/** What is to be erased may have come onto the list of suppressions with its address; there its digest is enough. */
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

/** By index, null where it was erased; none where the content cannot be read: that must not keep it from being erased. */
function addressesIn(content: Uint8Array): readonly (string | null)[] {
  try {
    return decodeContent(content).recipients.map((recipient) => recipient?.email ?? null);
  } catch {
    return [];
  }
}

/** The row of the outbox that a job was made of, whose request is the content once more; null for any other job. */
const rowOf = (created: StoredEvent | undefined): string | null =>
  created?.actor === "outbox" ? created.correlationId : null;

/** The content without those recipients, whose places stay: events name recipients by them. The same bytes each time. */
export function withoutRecipients(content: Uint8Array, indices: readonly number[]): Uint8Array {
  const gone = new Set(indices);
  const decoded = decodeContent(content);
  const recipients = decoded.recipients.map((recipient, index) => (gone.has(index) ? null : recipient));
  return encodeContent({ ...decoded, recipients });
}

/** What could not be erased now comes back after this. */
const tryAgainMs = 5000;

/**
 * Sees to it that what was decided is done: whoever decided to erase something does it at once, but may die before. It
 * hears of every decision until it has acknowledged it, and mostly finds that nothing is left to do.
 */
export const createEraser = (
  ports: ErasurePorts,
  feed: DecisionFeed,
  report: (failure: unknown) => void,
): DecisionActor =>
  actOnDecisions(
    feed,
    async (decision) => {
      if (decision.event.type === "JobContentErased") await completeErasure(ports, decision);
    },
    tryAgainMs,
    report,
  );
