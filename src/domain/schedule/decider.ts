import { accepted, type Decider, type Decision, rejected } from "../decider.ts";
import type { Instant } from "../message.ts";
import type { Schedule, ScheduleContentRef, ScheduleEvent, ScheduleSettings, SkipReason } from "./events.ts";
import { laterOf, type ScheduleEventWithout, type TendSchedule, tend } from "./tend.ts";

type Command<Type extends string, Data = unknown> = { readonly type: Type; readonly at: Instant } & Data;
type Reason = { readonly reason: string | null };

/** What a request says, and the actor that sent it. The content is stored. */
type Asked = {
  readonly settings: ScheduleSettings;
  readonly content: ScheduleContentRef;
  readonly by: string;
};

export type ScheduleCommand =
  | Command<"CreateSchedule", Asked & { readonly requestSha256: string | null }>
  | Command<"ChangeSchedule", Asked>
  | Command<"PauseSchedule", Reason>
  | Command<"ResumeSchedule", Reason>
  | Command<"DeleteSchedule", Reason>
  /** Its template without a person is stored; so many recipients are left in it, if it is one with recipients. */
  | Command<"EraseRecipients", Reason & { readonly content: ScheduleContentRef; readonly recipients: number }>
  /** Its time may have come. */
  | TendSchedule
  /** What the firing of this time was to make is made under another id: its own was abandoned. */
  | Command<"ReplaceMade", { readonly dueAt: Instant; readonly madeId: string }>
  /** What the firing of this time was to make was refused. */
  | Command<"FailFiring", { readonly dueAt: Instant; readonly code: string; readonly places: readonly string[] }>;

export type ScheduleState = { readonly status: "absent" } | Schedule;

/** Whether it needs a content as its template. */
export const keepsTemplate = (state: ScheduleState, contentId: string): boolean =>
  state.status !== "absent" && state.status !== "deleted" && state.contentId === contentId;

export type ScheduleRejection = {
  readonly code: "schedule-not-found" | "schedule-deleted" | "schedule-not-paused" | "idempotency-key-reused";
};

type ScheduleDecision = Decision<ScheduleEvent, ScheduleRejection>;

export const scheduleDecider: Decider<ScheduleCommand, ScheduleState, ScheduleEvent, ScheduleRejection> = {
  initialState: { status: "absent" },
  decide: (command, state) => {
    if (command.type === "CreateSchedule") return create(command, state);
    if (state.status === "absent") return rejected({ code: "schedule-not-found" });
    if (command.type === "DeleteSchedule") return remove(command, state);
    if (command.type === "ReplaceMade") return replaceMade(command, state);
    if (command.type === "FailFiring") return failFiring(command, state);
    if (state.status === "deleted") return rejected({ code: "schedule-deleted" });
    switch (command.type) {
      case "ChangeSchedule":
        return change(command, state);
      case "PauseSchedule":
        return pause(command, state);
      case "ResumeSchedule":
        return resume(command, state);
      case "EraseRecipients":
        return eraseRecipients(command, state);
      case "TendSchedule":
        return accepted(...recorded(command.at, state, ...tend(command, state)));
    }
  },
  evolve: (_, event) => event.data.schedule,
};

type CommandOf<Type extends ScheduleCommand["type"]> = Extract<ScheduleCommand, { type: Type }>;

/** Each event with the schedule as it is after it. */
function recorded(at: Instant, before: Schedule, ...events: readonly ScheduleEventWithout[]): readonly ScheduleEvent[] {
  let schedule = before;
  return events.map(({ type, data, change: changed }) => {
    schedule = { ...schedule, ...changed };
    return { type, at, data: { ...data, schedule } } as ScheduleEvent;
  });
}

/** A time that waited does not fire any more. */
const withoutWaiting = ({ waiting }: Schedule, reason: SkipReason): readonly ScheduleEventWithout[] =>
  waiting === null
    ? []
    : [
        {
          type: "ScheduleSkipped",
          data: { firstDueAt: waiting, dueAt: waiting, count: 1, reason },
          change: { waiting: null },
        },
      ];

function create(command: CommandOf<"CreateSchedule">, state: ScheduleState): ScheduleDecision {
  const { at, settings, content, by, requestSha256 } = command;
  if (state.status !== "absent") {
    const isRepeat = requestSha256 !== null && state.requestSha256 === requestSha256;
    return isRepeat ? accepted() : rejected({ code: "idempotency-key-reused" });
  }
  const schedule: Schedule = {
    ...settings,
    ...content,
    status: "active",
    createdAt: at,
    updatedAt: at,
    requestSha256,
    changedBy: by,
    countedFrom: at,
    last: null,
    waiting: null,
    skippedAt: null,
  };
  return accepted({ type: "ScheduleCreated", at, data: { schedule } });
}

/** Clocks differ by less. */
const clockWasAheadMs = 3_600_000;

/**
 * The caller's clock may be behind. But where a clock was ahead when times were dealt with, and would keep the schedule quiet
 * until then, a person's decision ends that: a time that fires once more makes what it has made, and nothing new.
 */
const countedAnew = (at: Instant, { countedFrom }: Schedule): Instant =>
  Date.parse(countedFrom) - Date.parse(at) > clockWasAheadMs ? at : laterOf(at, countedFrom);

/** From now on the new times count, and those that passed are gone. */
function change({ at, settings, content, by }: CommandOf<"ChangeSchedule">, state: Schedule): ScheduleDecision {
  const changed: ScheduleEventWithout = {
    type: "ScheduleChanged",
    data: { replaces: state.contentId },
    change: { ...settings, ...content, changedBy: by, updatedAt: at, countedFrom: countedAnew(at, state) },
  };
  return accepted(...recorded(at, state, ...withoutWaiting(state, "changed"), changed));
}

function pause({ at, reason }: CommandOf<"PauseSchedule">, state: Schedule): ScheduleDecision {
  if (state.status === "paused") return accepted();
  return accepted(...recorded(at, state, ...withoutWaiting(state, "paused"), paused(at, reason)));
}

const paused = (at: Instant, reason: string | null): ScheduleEventWithout => ({
  type: "SchedulePaused",
  data: { reason },
  change: { status: "paused", updatedAt: at },
});

/** The times that passed meanwhile never count. */
function resume({ at, reason }: CommandOf<"ResumeSchedule">, state: Schedule): ScheduleDecision {
  if (state.status !== "paused") return rejected({ code: "schedule-not-paused" });
  const countedFrom = countedAnew(at, state);
  const resumed: ScheduleEventWithout = {
    type: "ScheduleResumed",
    data: { reason },
    change: { status: "active", updatedAt: at, countedFrom },
  };
  return accepted(...recorded(at, state, resumed));
}

function remove({ at, reason }: CommandOf<"DeleteSchedule">, state: Schedule): ScheduleDecision {
  if (state.status === "deleted") return accepted();
  const removed: ScheduleEventWithout = {
    type: "ScheduleDeleted",
    data: { reason },
    change: { status: "deleted", updatedAt: at },
  };
  return accepted(...recorded(at, state, ...withoutWaiting(state, "deleted"), removed));
}

/** Whoever is left gets what is made at the next time. With no recipient left it cannot make anything: it pauses. */
function eraseRecipients(command: CommandOf<"EraseRecipients">, state: Schedule): ScheduleDecision {
  const { at, reason, content, recipients } = command;
  const erased: ScheduleEventWithout = {
    type: "ScheduleRecipientsErased",
    data: { reason, recipients, replaces: state.contentId },
    change: { ...content, updatedAt: at },
  };
  const isEmpty = recipients === 0 && state.status === "active";
  const rest = isEmpty ? [...withoutWaiting(state, "paused"), paused(at, "No recipient is left.")] : [];
  return accepted(...recorded(at, state, erased, ...rest));
}

function replaceMade({ at, dueAt, madeId }: CommandOf<"ReplaceMade">, state: Schedule): ScheduleDecision {
  const { last } = state;
  if (last === null || last.dueAt !== dueAt || last.madeId === madeId) return accepted();
  const fired: ScheduleEventWithout = {
    type: "ScheduleFired",
    data: { dueAt, madeId },
    change: { last: { ...last, madeId } },
  };
  return accepted(...recorded(at, state, fired));
}

/** Of a time that another one has followed nothing is recorded any more: it was made, or the event is there. */
function failFiring({ at, dueAt, code, places }: CommandOf<"FailFiring">, state: Schedule): ScheduleDecision {
  const { last } = state;
  if (last === null || last.dueAt !== dueAt || last.isFailed) return accepted();
  const failed: ScheduleEventWithout = {
    type: "ScheduleFailed",
    data: { dueAt, madeId: last.madeId, code, places },
    change: { last: { ...last, isFailed: true } },
  };
  return accepted(...recorded(at, state, failed));
}
