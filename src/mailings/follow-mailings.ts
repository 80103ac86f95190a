import { setTimeout as pause } from "node:timers/promises";
import { mailings, readNews } from "../commands/read-version.ts";
import { isJobEnd, type JobEnd, type JobSettings } from "../domain/job/events.ts";
import { isMailingEvent, type MailingEvent } from "../domain/mailing/events.ts";
import { hasMailingEnded, isNotStarted } from "../domain/mailing/state.ts";
import { type FeedbackEvent, isFeedback } from "../domain/recipients/feedback.ts";
import { Unavailable } from "../domain/unavailable.ts";
import type { ErasurePorts } from "../erasure/complete-erasure.ts";
import { type Cause, type JobRef, keyOf, refOf, type StoredEvent, type WaybillEvent } from "../event-log/event-log.ts";
import type { Ending } from "../event-log/following/active-process.ts";
import type { Listener } from "../event-log/following/listener.ts";
import { createLookAgain, until } from "../event-log/following/look-again.ts";
import { createSerially } from "../event-log/following/serially.ts";
import type { LogRoom } from "../event-log/log-room.ts";
import { howToGather } from "./gather-ends.ts";
import { makeParts, released } from "./make-parts.ts";
import {
  endOf,
  findMade,
  noteReport,
  type OpenMailing,
  partsOf,
  readOpen,
  recordEnds,
  recordReports,
  unread,
} from "./open-mailing.ts";
import { takeUpAll } from "./take-up.ts";
import { eraseUnmade, tellAll, tellRunning } from "./tell-parts.ts";

export type MailingPorts = ErasurePorts & {
  readonly room: LogRoom;
  /** Takes failures to make the first part when its time has come; it is tried again. */
  readonly report: (failure: unknown) => void;
};

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
  const open = new Map<string, OpenMailing>();
  const partOf = new Map<string, { readonly mailing: OpenMailing; readonly part: number }>();

  const forget = (mailing: OpenMailing): void => {
    open.delete(keyOf(mailing.ref));
    for (const { jobId } of partsOf(mailing)) partOf.delete(keyOf({ ...mailing.ref, jobId }));
  };

  /** What is done about a mailing is done one after the other. */
  const serially = createSerially();
  /** A report may be about a mailing that is still to be read. */
  const readings = new Set<Promise<void>>();
  let areRead: Promise<void> = Promise.resolve();

  /** Reads the mailing, for the first time or again. Its parts are known once that is over, which others wait for. */
  const read = async (mailing: OpenMailing): Promise<void> => {
    const { unheard } = mailing;
    await readOpen(ports.log, mailing);
    for (const [part, { jobId }] of partsOf(mailing).entries()) {
      partOf.set(keyOf({ ...mailing.ref, jobId }), { mailing, part });
    }
    await findMade(ports.log, mailing);
    mailing.unheard -= unheard;
  };

  const decided = (
    { tenant, jobId }: JobRef,
    cause: Cause,
    ending: Ending,
    decision: Decision | null,
  ): Promise<void> => {
    const ref = { tenant, jobId };
    const key = keyOf(ref);
    const mailing = open.get(key) ?? unread(ref);
    open.set(key, mailing);
    mailing.unheard += 1;
    let isRead = (): void => {};
    const reading = new Promise<void>((resolve) => {
      isRead = resolve;
    });
    readings.add(reading);
    return serially(ref, async () => {
      try {
        // What must stop stops first: reading takes a moment. Where it is not what was decided last, that follows.
        if (decision === "MailingPaused") await tellRunning(ports.log, mailing, "PauseJob", cause);
        if (decision === "MailingCancelled") await tellRunning(ports.log, mailing, "CancelJob", cause);
        await read(mailing);
      } finally {
        readings.delete(reading);
        isRead();
      }
      if (decision === "MailingPaused" || decision === "MailingResumed") await tellLast(mailing, cause, ending);
      await tend(mailing, cause, ending);
    });
  };

  /** What is told may be out of date by now, where this is a retry, or another process has gone on. */
  const tellLast = async (mailing: OpenMailing, cause: Cause, ending: Ending): Promise<void> => {
    for (let told = -1; told !== mailing.version.sequence; ) {
      const { state, sequence } = mailing.version;
      told = sequence;
      if (state.status === "started") await tellAll(ports.log, mailing, "ResumeJob", cause, ending);
      if (state.status === "paused") await tellAll(ports.log, mailing, "PauseJob", cause, ending);
      mailing.version = await readNews(mailings, ports.log, mailing.ref, mailing.version);
    }
  };

  /** Does what is to be done about the mailing as it is. */
  const tend = async (mailing: OpenMailing, cause: Cause, ending: Ending): Promise<void> => {
    if (mailing.ended.size > 0) await recordEnds(ports.log, mailing, cause);
    const { state } = mailing.version;
    if (state.status === "absent" || isNotStarted(state)) return forget(mailing);
    if (state.status === "started") await makeNext(mailing, cause, ending);
    if (state.status === "paused") await tellRunning(ports.log, mailing, "PauseJob", cause);
    if (state.status === "cancelled") {
      await tellAll(ports.log, mailing, "CancelJob", cause, ending);
      await eraseUnmade(ports, mailing, cause, ending);
    }
    // Parts that turned out to have ended before.
    if (mailing.ended.size > 0) return await tend(mailing, cause, ending);
    if (hasMailingEnded(state)) forget(mailing);
  };

  /** Once the time to take it back is over, or the next part is due. */
  const lookAgain = createLookAgain<OpenMailing>({
    until,
    serially,
    isOpen: (mailing) => open.get(keyOf(mailing.ref)) === mailing,
    tend: async (mailing, ending) => {
      // Reading it may have failed when it was taken up.
      if (mailing.unheard > 0) await read(mailing);
      await tend(mailing, takingUp, ending);
    },
    report: ports.report,
  });

  /** One that cannot be read, or has no room, keeps no other from being taken up. */
  const takeUp = (name: string, ending: Ending): Promise<void> =>
    decided(refOf(name), takingUp, ending, null).catch((failure: unknown) => {
      const mailing = open.get(name);
      if (failure instanceof Unavailable || mailing === undefined) throw failure;
      ports.report(failure);
      lookAgain(mailing, new Date().toISOString(), ending);
    });

  return {
    name: "mailings",
    beginAfter: () => 0,
    atOnce,
    tryAgainMs,
    restMs,
    unfinished: {
      name: () => [...open.keys()],
      takeUp: async (names, ending) => {
        open.clear();
        partOf.clear();
        await takeUpAll(names, (name) => takeUp(name, ending));
      },
    },
    act: (stored, ending) => {
      const { event } = stored;
      if (isMailingEvent(event)) {
        return concernsParts(event) ? decided(stored, causedBy(stored), ending, event.type) : null;
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
    const known = partOf.get(keyOf(stored));
    if (known !== undefined && isMadeHere(known)) return null;
    // Another process made it, and perhaps did not know yet what was decided.
    return decided({ tenant: stored.tenant, jobId: mailingId }, causedBy(stored), ending, null);
  }

  function ended(stored: StoredEvent<WaybillEvent>, event: JobEnd, ending: Ending): Promise<void> | null {
    const found = partOf.get(keyOf(stored));
    if (found === undefined) return null;
    const { mailing, part } = found;
    // The ends of one part come one after the other; what else is decided about the mailing does not wait for its last mails.
    const noted = serially(stored, async () => {
      // Of a mailing that was cancelled no end counts, and those that wait for its last mails would keep others waiting.
      const end = await endOf(ports.log, stored, event, () => open.get(keyOf(mailing.ref)) === mailing);
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
      void record(mailing, part, cause, ending).catch((failure: unknown) => {
        ports.report(failure);
        lookAgain(mailing, new Date().toISOString(), ending);
      });
      await serially(mailing.ref, () => makeNext(mailing, cause, ending));
    });
  }

  /** Null where no mailing is open: what comes back about its parts later stops nothing any more. */
  function reported(stored: StoredEvent<FeedbackEvent>, ending: Ending): Promise<void> | null {
    if (open.size === 0) return null;
    // Not before the reports that came before it: those would be taken for counted.
    areRead = Promise.all([areRead, ...readings]).then(() => {});
    return areRead.then(async () => {
      const mailing = partOf.get(keyOf(stored))?.mailing;
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
        if (mailing.reports === null) return;
        await recordReports(ports.log, mailing, causedBy(stored));
        await tend(mailing, causedBy(stored), ending);
      });
    });
  }

  async function makeNext(mailing: OpenMailing, cause: Cause, ending: Ending): Promise<void> {
    const state = await released(ports.log, mailing, cause);
    const after = mailing.version.state;
    const undoUntil = after.status === "started" ? after.undoUntil : null;
    const at = state === null ? undoUntil : await makeParts(ports, mailing, state, cause, ending);
    if (at !== null) lookAgain(mailing, at, ending);
  }

  /** With those that end within a moment; at once where no other part can. A crash meanwhile loses nothing: see findMade. */
  async function record(mailing: OpenMailing, part: number, cause: Cause, ending: Ending): Promise<void> {
    const { most, forMs } = howToGather(partsOf(mailing).filter(({ counts }) => counts !== null).length);
    const isFull = mailing.ended.size >= most || mailing.running.size === 0;
    if (!isFull) await pause(forMs, undefined, { signal: ending.stopping }).catch(() => {});
    await serially(mailing.ref, async () => {
      if (mailing.ended.has(part)) await tend(mailing, cause, ending);
    });
  }
}

/** What is decided about the parts, too. */
const decisions = [
  "MailingStarted",
  "MailingUndone",
  "MailingReleased",
  "MailingRetried",
  "MailingPaused",
  "MailingResumed",
  "MailingCancelled",
] as const satisfies readonly MailingEvent["type"][];

type Decision = (typeof decisions)[number];

const concerning: ReadonlySet<MailingEvent["type"]> = new Set(decisions);

const concernsParts = (event: MailingEvent): event is Extract<MailingEvent, { type: Decision }> =>
  concerning.has(event.type);

const takingUp: Cause = { actor: "scheduler", correlationId: null, causationId: null, traceparent: null };

const causedBy = ({ id, correlationId, traceparent }: StoredEvent<WaybillEvent>): Cause => ({
  ...takingUp,
  correlationId,
  causationId: id,
  traceparent,
});

/** Or is being made at this moment. */
const isMadeHere = ({ mailing, part }: { readonly mailing: OpenMailing; readonly part: number }): boolean =>
  part < mailing.made || mailing.version.state.status === "started";
