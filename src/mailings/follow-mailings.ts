import { setTimeout as pause } from "node:timers/promises";
import { isJobEnd, type JobEnd, type JobSettings } from "../domain/job/events.ts";
import { isMailingEvent, type MailingEvent } from "../domain/mailing/events.ts";
import { type FeedbackEvent, isFeedback } from "../domain/recipients/feedback.ts";
import type { Cause, StoredEvent, WaybillEvent } from "../event-log/event-log.ts";
import type { Ending } from "../event-log/following/active-process.ts";
import type { Listener } from "../event-log/following/listener.ts";
import { createSerially } from "../event-log/following/serially.ts";
import { howToGather } from "./gather-ends.ts";
import { endOf, noteReport, type OpenMailing, partsOf, recordReports } from "./open-mailing.ts";
import { createOpenMailings } from "./open-mailings.ts";
import { createMailingTending, type MailingPorts, takingUp } from "./tend-mailings.ts";

const atOnce = 200;
const tryAgainMs = 500;
/** People wait for what they have decided. */
const restMs = 20;
/** Reports come in bursts; one decision about the mailing is enough for those of a second. */
const gatherReportsMs = 1000;

/**
 * Makes the parts of mailings that were started, some at a time, and records how they ended; what is decided about a
 * mailing it decides about the parts that are jobs by then. A part is made under the id that the log names, and only once:
 * two processes, or one that died in the middle, make nothing twice. A part that was made at the moment of a cancel is
 * cancelled once its creation comes by. In memory are the open mailings only; the checkpoint names them, so another
 * process reads their histories and goes on. Of a mailing that can be taken back nothing is made until its time is over.
 * Needs no database.
 */
export function createMailingListener(ports: MailingPorts): Listener {
  const open = createOpenMailings(ports.log);
  const serially = createSerially();
  const tending = createMailingTending(ports, open, serially);

  return {
    name: "mailings",
    beginAfter: () => 0,
    atOnce,
    tryAgainMs,
    restMs,
    unfinished: { name: open.names, takeUp: tending.takeUp },
    act: (stored, ending) => {
      const { event } = stored;
      if (isMailingEvent(event)) {
        return concerning.has(event.type) ? tending.decided(stored, causedBy(stored), ending, event.type) : null;
      }
      if (event.type === "JobCreated") return created(stored, event.data, ending);
      if (isFeedback(event)) return reported(stored as StoredEvent<FeedbackEvent>, ending);
      return isJobEnd(event) ? ended(stored, event, ending) : null;
    },
  };

  function created(
    stored: StoredEvent<WaybillEvent>,
    { mailingId }: JobSettings,
    ending: Ending,
  ): Promise<void> | null {
    if (mailingId === undefined) return null;
    const known = open.partOf(stored);
    if (known !== undefined && isMadeHere(known)) return null;
    // Another process made it, and perhaps did not know yet what was decided.
    return tending.decided({ tenant: stored.tenant, jobId: mailingId }, causedBy(stored), ending, null);
  }

  function ended(stored: StoredEvent<WaybillEvent>, event: JobEnd, ending: Ending): Promise<void> | null {
    const found = open.partOf(stored);
    if (found === undefined) return null;
    const { mailing, part } = found;
    // The ends of one part come one after the other; what else is decided about the mailing does not wait for its last mails.
    const noted = serially(stored, async () => {
      // Of a mailing that was cancelled no end counts, and those that wait for its last mails would keep others waiting.
      const end = await endOf(ports.log, stored, event, () => open.isOpen(mailing));
      await serially(mailing.ref, async () => {
        if (stored.sequence < mailing.retriedAt) return;
        mailing.ended.set(part, end);
        mailing.running.delete(part);
      });
    });
    // The next part does not wait for the others to end, nor are ends lost where there is no room for it.
    const cause = causedBy(stored);
    return noted.then(async () => {
      // Not waited for, as others would wait, too: of an open mailing whoever takes it up finds the ends.
      void record(mailing, part, cause, ending).catch((failure: unknown) => tending.tryAgain(mailing, failure, ending));
      await serially(mailing.ref, () => tending.makeNext(mailing, cause, ending));
    });
  }

  /** With those that end within a moment; at once where no other part can. A crash meanwhile loses nothing: see findMade. */
  async function record(mailing: OpenMailing, part: number, cause: Cause, ending: Ending): Promise<void> {
    const { most, forMs } = howToGather(partsOf(mailing).filter(({ counts }) => counts !== null).length);
    const isFull = mailing.ended.size >= most || mailing.running.size === 0;
    if (!isFull) await pause(forMs, undefined, { signal: ending.stopping }).catch(() => {});
    await serially(mailing.ref, async () => {
      if (mailing.ended.has(part)) await tending.tend(mailing, cause, ending);
    });
  }

  /** Null where no mailing is open: what comes back about its parts later stops nothing any more. */
  function reported(stored: StoredEvent<FeedbackEvent>, ending: Ending): Promise<void> | null {
    if (open.isEmpty()) return null;
    // Not before the reports that came before it: those would be taken for counted.
    return open.areRead().then(async () => {
      const mailing = open.partOf(stored)?.mailing;
      if (mailing === undefined) return;
      let isToRecord = false;
      await serially(mailing.ref, async () => {
        isToRecord = noteReport(mailing, stored) && !mailing.gathersReports;
        if (isToRecord) mailing.gathersReports = true;
      });
      if (!isToRecord) return;
      await pause(gatherReportsMs, undefined, { signal: ending.stopping }).catch(() => {});
      await serially(mailing.ref, async () => {
        // Where this fails, it is tried again, or the next report records all.
        mailing.gathersReports = false;
        if (mailing.reports.length === 0) return;
        await recordReports(ports.log, mailing, causedBy(stored));
        await tending.tend(mailing, causedBy(stored), ending);
      });
    });
  }
}

/** What is decided about the parts, too. */
const concerning: ReadonlySet<MailingEvent["type"]> = new Set<MailingEvent["type"]>([
  "MailingStarted",
  "MailingUndone",
  "MailingReleased",
  "MailingRetried",
  "MailingPaused",
  "MailingResumed",
  "MailingCancelled",
]);

const causedBy = ({ id, correlationId, traceparent }: StoredEvent<WaybillEvent>): Cause => ({
  ...takingUp,
  correlationId,
  causationId: id,
  traceparent,
});

/** Or is being made at this moment. */
const isMadeHere = ({ mailing, part }: { readonly mailing: OpenMailing; readonly part: number }): boolean =>
  part < mailing.made || mailing.version.state.status === "started";
