import type { ScheduleVersion } from "../../commands/read-version.ts";
import type { Instant } from "../../domain/message.ts";
import type { Schedule } from "../../domain/schedule/events.ts";
import { type JobRef, keyOf } from "../../event-log/event-log.ts";
import type { Tended } from "../../event-log/following/look-again.ts";

/** An active schedule, as far as this process knows it. */
export type OpenSchedule = Tended & {
  version: ScheduleVersion;
  /** What was made last, once it is known to have ended. */
  over: { readonly madeId: string; readonly endedAt: Instant | null } | null;
};

/** Its last firing. */
export const lastOf = ({ version: { state } }: OpenSchedule): Schedule["last"] =>
  state.status === "absent" ? null : state.last;

/** The active schedules, and what each has made last. */
export function createOpenSchedules() {
  const open = new Map<string, OpenSchedule>();
  const byMade = new Map<string, OpenSchedule>();

  const nameOfMade = (one: OpenSchedule): string | null => {
    const madeId = lastOf(one)?.madeId;
    return madeId === undefined ? null : keyOf({ ...one.ref, jobId: madeId });
  };
  const forget = (one: OpenSchedule): void => {
    open.delete(keyOf(one.ref));
    const made = nameOfMade(one);
    if (made !== null) byMade.delete(made);
  };

  return {
    names: (): readonly string[] => [...open.keys()],
    isOpen: (one: OpenSchedule): boolean => open.get(keyOf(one.ref)) === one,
    /** The schedule that has made this job or mailing last. */
    thatMade: (made: JobRef): OpenSchedule | undefined => byMade.get(keyOf(made)),
    clear: (): void => {
      open.clear();
      byMade.clear();
    },
    /** The schedule as it is known; one that is not open was not read. */
    knownAs: ({ tenant, jobId }: JobRef): OpenSchedule => {
      const ref = { tenant, jobId };
      const absent: ScheduleVersion = { state: { status: "absent" }, sequence: 0 };
      return open.get(keyOf(ref)) ?? { ref, version: absent, over: null, looksAt: null };
    },
    /** Keeps one that could not be read. */
    keepUnread: (one: OpenSchedule): void => {
      open.set(keyOf(one.ref), one);
    },
    /** Takes a newer state over; an older one, which the log brings later, says nothing. */
    learn: (one: OpenSchedule, { state, sequence }: ScheduleVersion): void => {
      if (sequence < one.version.sequence) return;
      forget(one);
      one.version = { state, sequence };
      if (state.status !== "active") return;
      open.set(keyOf(one.ref), one);
      const made = nameOfMade(one);
      if (made !== null) byMade.set(made, one);
    },
  };
}

export type OpenSchedules = ReturnType<typeof createOpenSchedules>;
