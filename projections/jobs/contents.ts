import type { JobContent } from "../../src/content/content-store.ts";
import { openInsert } from "../../src/database/write-rows.ts";
import type { JobLabels } from "../../src/domain/job/job-record.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { readContents } from "../batch.ts";
import type { ProjectionTarget } from "../projector.ts";
import { jobTables } from "./tables.ts";

type ContentRow = {
  readonly job_id: string;
  readonly tenant: string;
  readonly body: string | null;
  readonly text: string | null;
  readonly recipients: string;
};

/** Stores the content of jobs just created, and returns the part that is shown with each. Skips erased content. */
export async function storeContents(
  created: readonly JobRef[],
  target: ProjectionTarget,
): Promise<ReadonlyMap<string, JobLabels>> {
  const labels = new Map<string, JobLabels>();
  const writer = openInsert<ContentRow>(target.transaction, {
    table: jobTables(target.suffix).contents,
    columns: ["job_id", "tenant", "body", "text", "recipients"],
  });
  for await (const { job, content } of readContents(created, target)) {
    if (content === null) continue;
    await writer.add([toContentRow(job, content)]);
    labels.set(job.jobId, toLabels(content));
  }
  await writer.end();
  return labels;
}

const toLabels = ({ name, subject, metadata }: JobContent): JobLabels => ({ name, subject, metadata });

const toContentRow = ({ jobId, tenant }: JobRef, content: JobContent): ContentRow => ({
  job_id: jobId,
  tenant,
  body: content.html ?? content.text,
  text: content.text,
  recipients: JSON.stringify(content.recipients.map((recipient) => recipient?.email ?? null)),
});
