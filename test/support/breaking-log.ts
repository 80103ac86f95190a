import type { EventLog } from "../../src/event-log/event-log.ts";
import { UndecodableEvent } from "../../src/event-log/log-failures.ts";

/** The same log, which breaks its followers off once, before an entry. */
export function breaking(log: EventLog, sequence: number): EventLog {
  let breaks = true;
  const follow: EventLog["follow"] = async function* (options) {
    for await (const batch of log.follow({ ...options, maxEvents: 1 })) {
      if (breaks && batch[0]?.sequence === sequence) {
        breaks = false;
        throw new UndecodableEvent(sequence, "it is of a newer release");
      }
      yield batch;
    }
  };
  return { ...log, follow };
}
