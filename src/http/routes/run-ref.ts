import type { RunRef } from "../../event-log/event-log.ts";
import type { RequestContext } from "../server/request-context.ts";
import { toJobRef } from "./job-ref.ts";

/** The run that a path names, `<jobId>.<run>`; null for what cannot name any. */
export function toRunRef(context: RequestContext, text: string): RunRef | null {
  const [, jobId = "", run] = /^([^.]+)\.([1-9]\d{0,8})$/.exec(text) ?? [];
  const job = toJobRef(context, jobId);
  return job === null ? null : { job, run: Number(run) };
}

export const runId = (jobId: string, run: number): string => `${jobId}.${run}`;
