import type { JobEvent } from "../domain/job/events.ts";
import { beginRunInLedger, emptyLedger, type Ledger, recordInLedger } from "../domain/recipients/ledger.ts";
import type { EventLog, JobRef, StoredEvent } from "../event-log/event-log.ts";

/**
 * What happened to the recipients so far, with the retries by hand in between, in the order of the log. `decisions`
 * are those before the lease, which is guarded by the last of them; null for a job that nobody has ever held.
 */
export async function replayLedger(
  log: EventLog,
  job: JobRef,
  total: number,
  decisions: readonly StoredEvent<JobEvent>[] | null,
): Promise<Ledger> {
  const ledger = emptyLedger(total);
  if (decisions === null) return ledger;
  const retries = decisions.filter(({ event }) => event.type === "JobRetried");
  const history: StoredEvent[] = [...retries, ...(await log.readRecipients(job))];
  for (const { event } of history.sort((one, other) => one.sequence - other.sequence)) {
    if (event.type === "JobRetried") beginRunInLedger(ledger, event);
    else recordInLedger(ledger, event as Parameters<typeof recordInLedger>[1]);
  }
  return ledger;
}
