import { handleScheduleCommand } from "../../commands/handle-command.ts";
import { readSchedule } from "../../commands/read-version.ts";
import type { Instant } from "../../domain/message.ts";
import type { ScheduleEvent } from "../../domain/schedule/events.ts";
import { nextLook, type Previous } from "../../domain/schedule/tend.ts";
import { Unavailable } from "../../domain/unavailable.ts";
import { type Cause, type JobRef, refOf } from "../../event-log/event-log.ts";
import type { Ending } from "../../event-log/following/active-process.ts";
import { createLookAgain, type LookAgainPorts, type Tended } from "../../event-log/following/look-again.ts";
import type { Serially } from "../../event-log/following/serially.ts";
import { VersionConflict } from "../../event-log/log-failures.ts";
import { idOfFiring } from "../../intake/derived-job-id.ts";
import { nextAfter, timesOf } from "./due-times.ts";
import { endOfMade } from "./end-of-made.ts";
import type { MakingPorts } from "./making.ts";
import { lastOf, type OpenSchedule, type OpenSchedules } from "./open-schedules.ts";

export type SchedulePorts = MakingPorts & Pick<LookAgainPorts<Tended>, "until" | "report">;

type ScheduleCommand = Parameters<typeof handleScheduleCommand>[2];

const takenUpAtOnce = 32;

export const causeOf = ({ jobId }: JobRef): Cause => ({
  actor: `schedule:${jobId}`,
  correlationId: null,
  causationId: null,
  traceparent: null,
});

/** Decides what is due of the active schedules, and looks again once the next time has come. */
export function createScheduleTending(ports: SchedulePorts, open: OpenSchedules, serially: Serially) {
  const { log, now } = ports;

  const previousOf = async (one: OpenSchedule): Promise<Previous> => {
    const last = lastOf(one);
    const { state } = one.version;
    if (last === null || last.isFailed || state.status === "absent") return { isOpen: false, endedAt: null };
    if (one.over?.madeId !== last.madeId) {
      const end = await endOfMade(log, { ...one.ref, jobId: last.madeId });
      if (end === null) return { isOpen: true };
      one.over = { madeId: last.madeId, endedAt: end.endedAt };
    }
    return { isOpen: false, endedAt: one.over.endedAt };
  };

  /** Records what is due, until nothing is; then waits for the next time. */
  const tend = async (one: OpenSchedule, cause: Cause, ending: Ending): Promise<void> => {
    while (one.version.state.status === "active" && !ending.stopping.aborted) {
      const previous = await previousOf(one);
      const idOf = (dueAt: Instant): string => idOfFiring(one.ref, dueAt);
      const command = { type: "TendSchedule", at: now(), timesOf, previous, idOf } as const;
      const outcome = await decide(one, command, cause);
      if (outcome === "conflict") continue;
      if (outcome.length > 0) continue;
      const at = nextLook(one.version.state, previous.isOpen, nextAfter);
      if (at !== null) lookAgain(one, at, ending);
      return;
    }
  };

  /** What was decided about what is not so any more is read anew. */
  const decide = async (
    one: OpenSchedule,
    command: ScheduleCommand,
    cause: Cause,
  ): Promise<readonly ScheduleEvent[] | "conflict"> => {
    try {
      const options = { from: one.version, maxConflicts: 0 };
      const outcome = await handleScheduleCommand(log, one.ref, command, cause, options);
      if (outcome.outcome === "rejected") throw new Error(`${command.type} was refused: ${outcome.rejection.code}`);
      open.learn(one, outcome);
      return outcome.events;
    } catch (failure) {
      if (!(failure instanceof VersionConflict)) throw failure;
      const { sequence } = one.version;
      open.learn(one, await readSchedule(log, one.ref));
      // What was decided only a newer release knows, which does the rest.
      if (one.version.sequence === sequence) throw failure;
      return "conflict";
    }
  };

  const lookAgain = createLookAgain<OpenSchedule>({
    until: ports.until,
    serially,
    isOpen: open.isOpen,
    tend: async (one, ending) => {
      // Reading it failed when it was taken up.
      if (one.version.sequence === 0) open.learn(one, await readSchedule(log, one.ref));
      await tend(one, causeOf(one.ref), ending);
    },
    report: ports.report,
  });

  /** One that cannot be read, or tended, keeps no other from being taken up. */
  const takeUpOne = async (name: string, ending: Ending): Promise<void> => {
    const one = open.knownAs(refOf(name));
    await serially(one.ref, async () => {
      open.learn(one, await readSchedule(log, one.ref));
      await tend(one, causeOf(one.ref), ending);
    }).catch((failure: unknown) => {
      const wasRead = one.version.sequence > 0;
      if (!wasRead && failure instanceof Unavailable) throw failure;
      ports.report(failure);
      if (!wasRead) open.keepUnread(one);
      lookAgain(one, now(), ending);
    });
  };

  return {
    tend,
    decide,
    /** Many at a time: what comes due and waits for its turn for a minute counts as missed. */
    takeUp: async (names: readonly string[], ending: Ending): Promise<void> => {
      open.clear();
      for (let next = 0; next < names.length && !ending.stopping.aborted; next += takenUpAtOnce) {
        await Promise.all(names.slice(next, next + takenUpAtOnce).map((name) => takeUpOne(name, ending)));
      }
    },
  };
}
