import type { ReturnEvent } from "../domain/recipients/feedback.ts";
import { type EventLog, keyOf, type StoredEvent } from "../event-log/event-log.ts";

type Feedback = readonly StoredEvent<ReturnEvent>[];

/** Some 15 MB. */
const mostEvents = 20_000;

/**
 * The same log. Of the jobs that reports were about last it reads only what came back since: the reports about a job come
 * together, and each reads what the others said. A thousand of them took three minutes.
 */
export function rememberFeedback(log: EventLog): EventLog {
  const known = new Map<string, Feedback>();
  let events = 0;
  const forget = (key: string): void => {
    events -= known.get(key)?.length ?? 0;
    known.delete(key);
  };
  const keep = (key: string, found: Feedback): void => {
    forget(key);
    known.set(key, found);
    events += found.length;
    for (const oldest of known.keys()) {
      if (events <= mostEvents) return;
      forget(oldest);
    }
  };
  return {
    ...log,
    readFeedback: async (job) => {
      const key = keyOf(job);
      const before = known.get(key) ?? [];
      const last = before.at(-1)?.sequence;
      const read = await log.readFeedback(job, last);
      // Where the last one is not there any more, the whole was read.
      const goesOn = last !== undefined && read[0]?.sequence === last;
      const found = goesOn ? [...before, ...read.filter(({ sequence }) => sequence > last)] : read;
      keep(key, found);
      return found;
    },
  };
}
