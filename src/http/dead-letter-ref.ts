import type { JobRef } from "../event-log/event-log.ts";
import { toJobRef } from "./job-ref.ts";
import type { RequestContext } from "./request-context.ts";

/** A job and the run of it that failed. */
export type DeadLetterRef = { readonly job: JobRef; readonly run: number };

/** The dead letter that a path names, `<jobId>.<run>`; null for what cannot be the id of any. */
export function toDeadLetterRef(context: RequestContext, text: string): DeadLetterRef | null {
  const [, jobId = "", run] = /^([^.]+)\.([1-9]\d{0,8})$/.exec(text) ?? [];
  const job = toJobRef(context, jobId);
  return job === null ? null : { job, run: Number(run) };
}

export const deadLetterId = (jobId: string, run: number): string => `${jobId}.${run}`;
