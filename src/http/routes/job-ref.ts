import type { JobRef } from "../../event-log/event-log.ts";
import type { RequestContext } from "../server/request-context.ts";

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The job that a path names, of the tenant who asks; null for what cannot be the id of any job. */
export function toJobRef({ tenant }: RequestContext, text: string): JobRef | null {
  const jobId = text.toLowerCase();
  return uuid.test(jobId) ? { tenant, jobId } : null;
}
