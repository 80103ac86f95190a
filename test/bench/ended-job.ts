import type { JobRef, NewEvent } from "../../src/event-log/event-log.ts";
import * as example from "../support/examples.ts";

/** As many as a worker with ten connections claims at a time. */
const recipientsPerClaim = 10;

/** What a mailing leaves in the log that reached everybody at the first attempt, in the order of the log. */
export function* eventsOfEndedJob(job: JobRef, total: number, contentSha256: string): Iterable<NewEvent> {
  const named = (what: string): string => `${job.jobId}/${what}`;
  const at = new Date().toISOString();
  yield example.caused(named("created"), example.jobCreated({ total, contentSha256 }, at));
  yield example.caused(named("1/1/queued"), example.jobQueued({}, at));
  yield example.caused(named("1/1/started"), example.jobStarted({}, at));
  for (let first = 0; first < total; first += recipientsPerClaim) {
    const claimed = Array.from({ length: Math.min(recipientsPerClaim, total - first) }, (_, index) => first + index);
    yield example.caused(named(`1/1/claim/${first}`), example.recipientsClaimed({ recipients: claimed }, at));
    for (const recipient of claimed) {
      const sent = example.recipientSent({ recipient, messageId: `<${recipient}.${job.jobId}@example.org>` }, at);
      yield example.caused(named(`1/1/${recipient}/RecipientSent`), sent);
    }
  }
  const counts = example.counts({ total, sent: total });
  yield example.caused(named("1/1/completed"), example.jobCompleted({ counts }, at));
}
