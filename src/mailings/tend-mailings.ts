import type { MailingEvent } from "../domain/mailing/events.ts";
import { hasMailingEnded, isNotStarted } from "../domain/mailing/state.ts";
import { Unavailable } from "../domain/unavailable.ts";
import type { ErasurePorts } from "../erasure/complete-erasure.ts";
import { type Cause, type JobRef, refOf } from "../event-log/event-log.ts";
import type { Ending } from "../event-log/following/active-process.ts";
import { createLookAgain, until } from "../event-log/following/look-again.ts";
import type { Serially } from "../event-log/following/serially.ts";
import type { LogRoom } from "../event-log/log-room.ts";
import { makeParts, released } from "./make-parts.ts";
import { type OpenMailing, recordEnds } from "./open-mailing.ts";
import type { OpenMailings } from "./open-mailings.ts";
import { takeUpAll } from "./take-up.ts";
import { eraseUnmade, tellAll, tellAtOnce, tellRunning } from "./tell-parts.ts";

export type MailingPorts = ErasurePorts & {
  readonly room: LogRoom;
  /** Takes failures to make the first part when its time has come; it is tried again. */
  readonly report: (failure: unknown) => void;
};

export const takingUp: Cause = { actor: "scheduler", correlationId: null, causationId: null, traceparent: null };

/**
 * Does what is to be done about open mailings: makes their parts, tells these what was decided, and records their ends. What is
 * done about one mailing is to be done one after the other (`serially`).
 */
export function createMailingTending(ports: MailingPorts, open: OpenMailings, serially: Serially) {
  /** Reads the mailing again, as something was decided about it, and does what follows. */
  const decided = (ref: JobRef, cause: Cause, ending: Ending, decision: MailingEvent["type"] | null): Promise<void> => {
    const { mailing, wasRead } = open.hear(ref);
    return serially(mailing.ref, async () => {
      try {
        // What must stop stops first: reading takes a moment. Where it is not what was decided last, that follows.
        if (decision === "MailingPaused") await tellAtOnce(ports.log, mailing, "PauseJob", cause);
        if (decision === "MailingCancelled") await tellAtOnce(ports.log, mailing, "CancelJob", cause);
        await open.read(mailing);
      } finally {
        wasRead();
      }
      if (decision === "MailingPaused" || decision === "MailingResumed") {
        await tellAll(ports.log, mailing, cause, ending);
      }
      await tend(mailing, cause, ending);
    });
  };

  /** Does what is to be done about the mailing as it is. */
  const tend = async (mailing: OpenMailing, cause: Cause, ending: Ending): Promise<void> => {
    if (mailing.ended.size > 0) await recordEnds(ports.log, mailing, cause);
    const { state } = mailing.version;
    if (state.status === "absent" || isNotStarted(state)) return open.forget(mailing);
    if (state.status === "started") await makeNext(mailing, cause, ending);
    if (state.status === "paused") await tellRunning(ports.log, mailing, cause);
    if (state.status === "cancelled") {
      await tellAll(ports.log, mailing, cause, ending);
      await eraseUnmade(ports, mailing, cause, ending);
    }
    // Parts that turned out to have ended before.
    if (mailing.ended.size > 0) return await tend(mailing, cause, ending);
    if (hasMailingEnded(state)) open.forget(mailing);
  };

  const makeNext = async (mailing: OpenMailing, cause: Cause, ending: Ending): Promise<void> => {
    const state = await released(ports.log, mailing, cause);
    const after = mailing.version.state;
    const undoUntil = after.status === "started" ? after.undoUntil : null;
    const at = state === null ? undoUntil : await makeParts(ports, mailing, state, cause, ending);
    if (at !== null) lookAgain(mailing, at, ending);
  };

  /** Once the time to take it back is over, or the next part is due. */
  const lookAgain = createLookAgain<OpenMailing>({
    until,
    serially,
    isOpen: open.isOpen,
    tend: async (mailing, ending) => {
      // Reading it may have failed when it was taken up.
      if (mailing.unheard > 0) await open.read(mailing);
      await tend(mailing, takingUp, ending);
    },
    report: ports.report,
  });

  /** Once what has failed may work again. */
  const tryAgain = (mailing: OpenMailing, failure: unknown, ending: Ending): void => {
    ports.report(failure);
    lookAgain(mailing, new Date().toISOString(), ending);
  };

  /** One that cannot be read, or has no room, keeps no other from being taken up. */
  const takeUp = (name: string, ending: Ending): Promise<void> =>
    decided(refOf(name), takingUp, ending, null).catch((failure: unknown) => {
      const mailing = open.find(name);
      if (failure instanceof Unavailable || mailing === undefined) throw failure;
      tryAgain(mailing, failure, ending);
    });

  return {
    decided,
    tend,
    makeNext,
    tryAgain,
    takeUp: async (names: readonly string[], ending: Ending): Promise<void> => {
      open.clear();
      await takeUpAll(names, (name) => takeUp(name, ending), ending.stopping);
    },
  };
}
