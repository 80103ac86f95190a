import { defaultJobType, type JobType } from "../domain/job/events.ts";
import { createRequestReader } from "../schemas/read-job-request.ts";
import { emailSend } from "./email/email-send.ts";
import type { JobKind } from "./job-kind.ts";
import { reportExport } from "./report/report-export.ts";
import { webhookDeliver } from "./webhook/webhook-deliver.ts";

/** Every kind of job. A new kind is a folder beside these, and its import and its name here. */
export const allJobKinds: readonly JobKind[] = [emailSend, webhookDeliver, reportExport];

export const jobTypes: readonly JobType[] = allJobKinds.map(({ type }) => type);

export const readJobRequest = createRequestReader(allJobKinds, defaultJobType);

/** The kinds whose jobs make a file. */
export const typesWithFile: readonly JobType[] = allJobKinds.flatMap(({ type, file }) => (file ? [type] : []));

/** The kind of a job in the log; undefined for a kind that only a newer release knows. */
export const findKind = (type: JobType): JobKind | undefined => allJobKinds.find((kind) => kind.type === type);

/** The kind of a parsed request. */
export function kindOf(type: JobType): JobKind {
  const kind = findKind(type);
  if (kind === undefined) throw new Error(`Unknown kind of job ${JSON.stringify(type)}`);
  return kind;
}
