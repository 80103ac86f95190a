import type { ContentStore } from "../content/content-store.ts";
import { readLabels } from "../content/stored-content.ts";
import {
  createDeadLetter,
  type DeadLetter,
  type DeadLetterRecord,
  decideDeadLetter,
  runDecidedAbout,
} from "../domain/job/dead-letter.ts";
import type { JobEvent } from "../domain/job/events.ts";
import { noLabels } from "../domain/job/job-record.ts";
import { isWholeErasure } from "../domain/job/job-view.ts";
import type { EventLog, JobRef, StoredEvent } from "../event-log/event-log.ts";

/** `sequence` is the job's last decision; all decisions up to it went into the dead letter. */
export type DeadLetterFromLog = { readonly letter: DeadLetterRecord; readonly sequence: number };

/** The dead letter of a failed run, from the log without any read model; null where the run did not fail. */
export async function deadLetterFromLog(
  log: EventLog,
  contentStore: ContentStore,
  job: JobRef,
  run: number,
): Promise<DeadLetterFromLog | null> {
  const decisions = await log.readDecisions(job);
  const created = decisions[0]?.event;
  if (created?.type !== "JobCreated") return null;
  const letter = foldDeadLetter(decisions, created.data.total, run);
  if (letter === null) return null;
  const isErased = decisions.some(({ event }) => isWholeErasure(event));
  const { name, subject } = isErased ? noLabels : await readLabels(contentStore, job);
  const record = { ...letter, jobId: job.jobId, type: created.data.type, name, subject };
  return { letter: record, sequence: decisions.at(-1)?.sequence ?? 0 };
}

function foldDeadLetter(decisions: readonly StoredEvent<JobEvent>[], total: number, run: number): DeadLetter | null {
  let letter: DeadLetter | null = null;
  for (const { event, actor } of decisions) {
    if (event.type === "JobFailed" && event.data.run === run) letter = createDeadLetter(event, total);
    const isDecision =
      event.type === "JobRetried" || event.type === "JobRequeued" || event.type === "DeadLetterIgnored";
    if (letter !== null && isDecision && runDecidedAbout(event) === run) {
      letter = decideDeadLetter(letter, event, actor);
    }
  }
  return letter;
}
