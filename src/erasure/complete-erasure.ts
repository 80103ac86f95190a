import { readJob } from "../commands/handle-command.ts";
import type { ContentStore } from "../content/content-store.ts";
import { eraseAttachments } from "../content/erase-attachments.ts";
import type { EventLog, JobRef } from "../event-log/event-log.ts";
import { eraseResult } from "../reports/erase-result.ts";
import type { ResultStore } from "../reports/result-store.ts";
import { withoutRecipients } from "./without-recipients.ts";

export type ErasurePorts = {
  readonly log: EventLog;
  readonly contentStore: ContentStore;
  readonly results: Pick<ResultStore, "get" | "erase">;
};

/**
 * Does to a job's content what was decided about it: it overwrites what is to be erased and leaves the rest. Done again,
 * after a crash or at the same time by another process, it comes to the same.
 */
export async function completeErasure({ log, contentStore, results }: ErasurePorts, job: JobRef): Promise<void> {
  const { state } = await readJob(log, job);
  if (state.status === "absent") return;
  const { erased, settings } = state;
  if (erased.isWhole) {
    await eraseAttachments(contentStore, job);
    if (settings.type === "report.export") await eraseResult(log, results, job);
    await contentStore.erase(job);
  } else if (erased.recipients.length > 0) {
    await contentStore.rewrite(job, (content) => withoutRecipients(content, erased.recipients));
  }
}
