import type { ContentStore } from "../content/content-store.ts";
import { readLabels } from "../content/stored-content.ts";
import {
  createDeadLetter,
  type DeadLetter,
  type DeadLetterRecord,
  decideDeadLetter,
  noReplies,
  noteReply,
  runDecidedAbout,
} from "../domain/job/dead-letter.ts";
import { noLabels } from "../domain/job/job-record.ts";
import { isWholeErasure } from "../domain/job/job-view.ts";
import type { EventLog, JobRef, StoredEvent } from "../event-log/event-log.ts";

/** `sequence` is the last event of the job; everything up to it went into the dead letter. */
export type DeadLetterFromLog = { readonly letter: DeadLetterRecord; readonly sequence: number };

/** The dead letter of a failed run, from the log without any read model; null where the run did not fail. */
export async function deadLetterFromLog(
  log: EventLog,
  contentStore: ContentStore,
  job: JobRef,
  run: number,
): Promise<DeadLetterFromLog | null> {
  const history = await log.readHistory(job);
  const created = history[0]?.event;
  if (created?.type !== "JobCreated") return null;
  const letter = foldDeadLetter(history, created.data.total, run);
  if (letter === null) return null;
  const isErased = history.some(({ event }) => isWholeErasure(event));
  const { name, subject } = isErased ? noLabels : await readLabels(contentStore, job);
  const record = { ...letter, jobId: job.jobId, type: created.data.type, name, subject };
  return { letter: record, sequence: history.at(-1)?.sequence ?? 0 };
}

function foldDeadLetter(history: readonly StoredEvent[], total: number, run: number): DeadLetter | null {
  let letter: DeadLetter | null = null;
  let replies = noReplies;
  for (const { event, actor } of history) {
    if (event.type === "RecipientFailed") replies = noteReply(replies, event);
    if (event.type === "JobFailed" && event.data.run === run) letter = createDeadLetter(event, total, replies);
    const isDecision =
      event.type === "JobRetried" || event.type === "JobRequeued" || event.type === "DeadLetterIgnored";
    if (letter !== null && isDecision && runDecidedAbout(event) === run) {
      letter = decideDeadLetter(letter, event, actor);
    }
  }
  return letter;
}
