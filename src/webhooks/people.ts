import type { ContentStore } from "../content/content-store.ts";
import { decodeContent } from "../content/encode-content.ts";
import { type EventLog, type JobRef, keyOf } from "../event-log/event-log.ts";
import type { Person } from "./recipient-messages.ts";

export type People = {
  /** Who the recipient of a job is. Throws Unavailable. */
  find(job: JobRef, recipient: number): Promise<Person>;
};

type JobPeople = { readonly mailingId: string | null; readonly emails: readonly (string | null)[] };

/** An erased address is sent no longer than this. */
const keptMs = 1000;
/** About as many as are sent at a time. */
const jobsKept = 64;

/** Reads the content of a job once for the recipients that come together. */
export function createPeople(contentStore: Pick<ContentStore, "get">, log: Pick<EventLog, "readDecisions">): People {
  const kept = new Map<string, { readonly readAt: number; readonly people: Promise<JobPeople> }>();

  const read = async (job: JobRef): Promise<JobPeople> => {
    const stored = await contentStore.get(job);
    if (stored !== null) {
      const { mailingId = null, recipients } = decodeContent(stored);
      return { mailingId, emails: recipients.map((recipient) => recipient?.email ?? null) };
    }
    const created = (await log.readDecisions(job))[0]?.event;
    return { mailingId: created?.type === "JobCreated" ? (created.data.mailingId ?? null) : null, emails: [] };
  };
  const peopleOf = (job: JobRef): Promise<JobPeople> => {
    const key = keyOf(job);
    const known = kept.get(key);
    if (known !== undefined && performance.now() - known.readAt < keptMs) return known.people;
    const people = read(job);
    kept.delete(key);
    kept.set(key, { readAt: performance.now(), people });
    people.catch(() => kept.delete(key));
    const [oldest] = kept.keys();
    if (kept.size > jobsKept && oldest !== undefined) kept.delete(oldest);
    return people;
  };
  return {
    find: async (job, recipient) => {
      const { mailingId, emails } = await peopleOf(job);
      return { mailingId, email: emails[recipient] ?? null };
    },
  };
}
