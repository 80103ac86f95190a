import type { EventLog, LogEvent } from "../../src/event-log/event-log.ts";
import { UndecodableEvent } from "../../src/event-log/log-failures.ts";

/** What a reader finds in the place of an event: another entry, nothing at all, or what cannot be decoded. */
export type Alteration = (entry: LogEvent) => LogEvent | "gap" | "undecodable";

/** A log that is altered only for its followers. */
export const alteredLog = (log: EventLog, alter: Alteration): EventLog => ({
  ...log,
  follow: async function* (options) {
    for await (const batch of log.follow(options)) {
      const entries: LogEvent[] = [];
      for (const entry of batch) {
        const found = alter(entry);
        if (found === "gap") continue;
        if (found === "undecodable") {
          if (entries.length > 0) yield entries;
          throw new UndecodableEvent(entry.sequence, "it was altered");
        }
        entries.push(found);
      }
      if (entries.length > 0) yield entries;
    }
  },
});
