import { foldDecisions } from "../commands/handle-command.ts";
import type { ContentStore } from "../content/content-store.ts";
import { decodeContent } from "../content/encode-content.ts";
import { eraseContent } from "../content/erase-content.ts";
import type { EventLog, JobRef, StoredEvent } from "../event-log/event-log.ts";
import { eraseResult } from "../job-kinds/report/erase-result.ts";
import type { ResultStore } from "../job-kinds/report/result-store.ts";
import type { SuppressionList } from "../suppressions/suppression-list.ts";
import type { OutboxRequests } from "./outbox-requests.ts";
import { withoutRecipients } from "./without-recipients.ts";

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
    if (settings.type === "report.export") await eraseResult(log, results, job);
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
