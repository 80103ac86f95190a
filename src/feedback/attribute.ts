import type { EventLog, JobRef } from "../event-log/event-log.ts";
import type { MailTokens } from "../mail/return-path.ts";
import type { MailRef } from "./record-feedback.ts";

/** Finds the mail that a report is about, by the first of its texts that names one; null where none does. */
export type Attribute = (texts: readonly string[]) => Promise<MailRef | null>;

/** Where a job is found by its id alone. */
export type JobFinder = {
  /** Null for a job that was not projected yet, or is in no list any more. */
  readonly tenantOf: (jobId: string) => Promise<string | null>;
  /** Waits until everything up to this entry of the log was projected. Throws Unavailable. */
  readonly caughtUp: (sequence: number) => Promise<void>;
};

/** A report names its mail in a few places. One with more texts is made to cost time. */
const mostTexts = 50;
/** Jobs whose tenant is known without asking: it never changes, and the reports about a job come together. */
const tenantsKept = 1000;

/**
 * A text without a valid token costs a signature and no question to the database. A valid one whose job is not found names
 * a job that was not projected yet, or that is in no list any more: after everything was projected, it is the latter.
 */
export function createAttribution(tokens: MailTokens, jobs: JobFinder, log: Pick<EventLog, "state">): Attribute {
  const tenants = new Map<string, string>();
  const find = async (jobId: string): Promise<JobRef | null> => {
    const tenant = tenants.get(jobId) ?? (await jobs.tenantOf(jobId));
    if (tenant === null) return null;
    tenants.set(jobId, tenant);
    const [oldest] = tenants.keys();
    if (tenants.size > tenantsKept && oldest !== undefined) tenants.delete(oldest);
    return { tenant, jobId };
  };
  return async (texts) => {
    for (const text of texts.slice(0, mostTexts)) {
      const named = tokens.find(text);
      if (named === null) continue;
      const found = await find(named.jobId);
      if (found !== null) return { ...found, recipient: named.recipient };
      const { lastSequence } = await log.state();
      await jobs.caughtUp(lastSequence);
      const later = await find(named.jobId);
      return later === null ? null : { ...later, recipient: named.recipient };
    }
    return null;
  };
}
