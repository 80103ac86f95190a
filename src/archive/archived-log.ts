import { isMailingEvent } from "../domain/mailing/events.ts";
import { isReturn } from "../domain/recipients/feedback.ts";
import { isScheduleEvent } from "../domain/schedule/events.ts";
import { inBatches } from "../event-log/batches.ts";
import { decodeMessage } from "../event-log/decode-entry.ts";
import {
  type EventLog,
  isOfJob,
  isOfMailing,
  isOfSchedule,
  type JobRef,
  type LogEvent,
  logRef,
  type NewEntry,
  type StoredEvent,
} from "../event-log/event-log.ts";
import { isPassed, UndecodableEvent, VersionConflict } from "../event-log/log-failures.ts";
import { leafHashOf } from "../event-log/log-message.ts";
import { inOrder, isAboutFeedback, isAboutRecipients, isDecision, isNotice } from "../event-log/select-events.ts";
import type { Archive } from "./archive.ts";
import type { ArchivedEntry } from "./archive-format.ts";
import { archivedBetween, inRuns } from "./archived-between.ts";

/**
 * The log with what is archived of it, as if nothing had been cut off. A job that the log itself knows from its creation
 * costs nothing more. For any other, the archive is asked after the log: what the log lost before its answer was in the
 * index by then. Where the files are not at hand, methods throw Archived instead of an answer that is too short.
 */
export function withArchive(log: EventLog, archive: Archive, prefix: string): EventLog {
  const decode = createDecoding(createPassReader(log, archive, prefix), prefix);
  const entriesOf = async (job: JobRef): Promise<readonly LogEvent[]> => await decode(await archive.entriesOf(job));
  const archived = async (job: JobRef): Promise<StoredEvent[]> => (await entriesOf(job)).filter(isOfJob);

  /** An entry can be in both while the log is being cut. */
  const completed = async (job: JobRef, events: readonly StoredEvent[]): Promise<readonly StoredEvent[]> => {
    if (events[0]?.event.type === "JobCreated") return events;
    const before = await archived(job);
    if (before.length === 0) return events;
    const known = new Set(events.map(({ sequence }) => sequence));
    return [...before.filter(({ sequence }) => !known.has(sequence)), ...events].sort(inOrder);
  };
  const readDecisions: EventLog["readDecisions"] = async (job) =>
    (await completed(job, await log.readDecisions(job))).filter(isDecision);
  /** A mailing is cut off as a whole, once it has ended; an entry can be in both meanwhile. */
  const readMailing: EventLog["readMailing"] = async (mailing, from) => {
    const events = await log.readMailing(mailing, from);
    const [first] = events;
    if (first?.event.type === "MailingCreated" || (first !== undefined && first.sequence === from)) return events;
    const known = new Set(events.map(({ sequence }) => sequence));
    const before = (await entriesOf(mailing)).filter(isOfMailing).filter(({ sequence }) => !known.has(sequence));
    return [...before, ...events];
  };
  /** The last event of a schedule that is not deleted is never cut off. */
  const readSchedule: EventLog["readSchedule"] = async (schedule) =>
    (await log.readSchedule(schedule)) ?? (await entriesOf(schedule)).findLast(isOfSchedule) ?? null;
  const readHistory: EventLog["readHistory"] = async (job) => await completed(job, await log.readHistory(job));

  /** Facts do not show what came before them, so their job is asked for. */
  const readNotices: EventLog["readNotices"] = async (job) => {
    const notices = await log.readNotices(job);
    return (await archive.holds(job)) ? (await readHistory(job)).filter(isNotice) : notices;
  };

  const archivedFeedback = async (job: JobRef) => (await archived(job)).filter(isAboutFeedback);

  /** Reports come after the end of their job, and say nothing of the time before them either. */
  const readFeedback: EventLog["readFeedback"] = async (job, from) => {
    const feedback = await log.readFeedback(job, from);
    const goesOn = from !== undefined && feedback[0]?.sequence === from;
    if (goesOn || !(await archive.holds(job))) return feedback;
    const known = new Set(feedback.map(({ sequence }) => sequence));
    return [...(await archivedFeedback(job)).filter(({ sequence }) => !known.has(sequence)), ...feedback];
  };

  const lastArchived = async (job: JobRef): Promise<number> =>
    (await archived(job)).findLast(isDecision)?.sequence ?? 0;

  const lastDecision: EventLog["lastDecision"] = async (job) => {
    const last = await log.lastDecision(job);
    return last > 0 ? last : await lastArchived(job);
  };

  /** The last decision that the log itself has about what the entry is about, or, where it has none, the archive. */
  const lastBefore = async (job: JobRef, [{ event }]: NewEntry): Promise<Found> => {
    if (isScheduleEvent(event)) {
      if ((await log.readSchedule(job)) !== null) return { isArchived: false };
      return { isArchived: true, sequence: (await entriesOf(job)).findLast(isOfSchedule)?.sequence ?? 0 };
    }
    if (isReturn(event)) {
      if ((await log.readFeedback(job)).length > 0) return { isArchived: false };
      return { isArchived: true, sequence: (await archivedFeedback(job)).at(-1)?.sequence ?? 0 };
    }
    if (!isMailingEvent(event)) {
      const last = await log.lastDecision(job);
      return last > 0 ? { isArchived: false } : { isArchived: true, sequence: await lastArchived(job) };
    }
    if ((await log.readMailing(job)).length > 0) return { isArchived: false };
    return { isArchived: true, sequence: (await entriesOf(job)).findLast(isOfMailing)?.sequence ?? 0 };
  };

  /** A decision that follows an archived one: on the subject itself, nothing is before it any more. */
  const append: EventLog["append"] = async (job, entry, expectedSequence) => {
    try {
      return await log.append(job, entry, expectedSequence);
    } catch (failure) {
      // Of what the service itself decides, such as seals, the last one is never archived.
      if (!(failure instanceof VersionConflict) || expectedSequence === 0 || job.tenant === logRef.tenant)
        throw failure;
      const last = await lastBefore(job, entry);
      if (!last.isArchived || last.sequence !== expectedSequence) throw failure;
      return await log.append(job, entry, 0);
    }
  };

  return {
    ...log,
    append,
    readDecisions,
    readMailing,
    readSchedule,
    readHistory,
    readFeedback,
    readNotices,
    lastDecision,
    readRecipients: async (job) => (await readHistory(job)).filter(isAboutRecipients),
    follow: (options) => followWithArchive(log, archive, decode, options),
  };
}

type Found = { readonly isArchived: false } | { readonly isArchived: true; readonly sequence: number };

type Decode = (entries: readonly ArchivedEntry[]) => Promise<readonly LogEvent[]>;

/** Also those that are archived themselves; `readPasses` of the log has only the others, and needs no file. */
export const createPassReader =
  (log: EventLog, archive: Archive, prefix: string): EventLog["readPasses"] =>
  async () => {
    const entries = (await archive.entriesOf(logRef)).filter(({ subject }) => subject.endsWith(".pass"));
    const passes = entries
      .flatMap(({ subject, sequence, body }) => decodeMessage(prefix, subject, sequence, body))
      .flatMap((event) =>
        "event" in event && event.event.type === "MessagePassed" ? [event as StoredEvent<typeof event.event>] : [],
      );
    return [...passes, ...(await log.readPasses())];
  };

/** An entry that cannot be decoded was passed by, here or in the archive, or the reading ends. */
function createDecoding(readPasses: EventLog["readPasses"], prefix: string): Decode {
  return async (entries) => {
    const events: LogEvent[] = [];
    for (const entry of entries) {
      try {
        for (const event of decodeMessage(prefix, entry.subject, entry.sequence, entry.body)) events.push(event);
      } catch (failure) {
        if (!(failure instanceof UndecodableEvent)) throw failure;
        const { sequence, subject } = entry;
        const stored = { subject, sha256: leafHashOf(entry).toString("hex") };
        const found = new UndecodableEvent(sequence, failure.reason, failure.isNewer, stored);
        if (!isPassed(found, await readPasses())) throw found;
        events.push({ ...logRef, sequence, index: 0, unknownType: "undecodable" });
      }
    }
    return events;
  };
}

/**
 * Where the log goes on later than it was asked to, what is between comes from the archive. It can be cut while it is
 * read, and then goes on later inside a batch.
 */
async function* followWithArchive(
  log: EventLog,
  archive: Archive,
  decode: Decode,
  options: Parameters<EventLog["follow"]>[0],
): AsyncGenerator<readonly LogEvent[]> {
  const { maxEvents, signal } = options;
  let last = options.afterSequence;
  for await (const batch of log.follow(options)) {
    for (const events of inRuns(batch)) {
      for await (const entries of archivedBetween(archive, last, events[0]?.sequence ?? 0)) {
        if (signal.aborted) return;
        yield* inBatches(await decode(entries), maxEvents);
      }
      last = events.at(-1)?.sequence ?? last;
      yield events;
    }
  }
}
