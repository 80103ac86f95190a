import { expect } from "chai";
import { v7 as newId } from "uuid";
import { handleCommand, handleScheduleCommand } from "../../src/commands/handle-command.ts";
import type { ContentStore } from "../../src/content/content-store.ts";
import type { TemplateStore } from "../../src/content/template-store.ts";
import type { Instant } from "../../src/domain/message.ts";
import type { ScheduleCommand } from "../../src/domain/schedule/decider.ts";
import type { ScheduleSettings } from "../../src/domain/schedule/events.ts";
import type { CallerLimits } from "../../src/domain/tenant.ts";
import { type EventLog, isOfJob, isOfSchedule, type JobRef, type LogEvent } from "../../src/event-log/event-log.ts";
import type { Listening } from "../../src/event-log/following/active-process.ts";
import type { CheckpointStore } from "../../src/event-log/following/checkpoint-store.ts";
import { createListening } from "../../src/event-log/following/listener.ts";
import { createImporter } from "../../src/mailings/import-recipients.ts";
import { createScheduleListener } from "../../src/mailings/schedules/follow-schedules.ts";
import { saveSchedule } from "../../src/mailings/schedules/save-schedule.ts";
import type { SchedulePorts } from "../../src/mailings/schedules/tend-schedules.ts";
import { eventually } from "./eventually.ts";
import { counts } from "./examples.ts";
import { cause } from "./mailings.ts";
import { createMemoryTemplateStore } from "./memory/memory-template-store.ts";

/** A clock that stands still until it is moved. */
export function createClock(start: Instant) {
  let now = start;
  const sleepers = new Set<() => void>();
  return {
    now: (): Instant => now,
    move: (to: Instant): void => {
      now = to;
      for (const wake of [...sleepers]) wake();
    },
    until: (at: Instant, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const wake = (): void => {
          if (now < at && !signal.aborted) return;
          sleepers.delete(wake);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        sleepers.add(wake);
        signal.addEventListener("abort", wake);
        wake();
      }),
  };
}

export type Clock = ReturnType<typeof createClock>;

export type ScheduleStage = {
  /** Whose schedules are added; `default` where it does not say. */
  readonly tenant?: string;
  readonly log: EventLog;
  readonly contentStore: ContentStore;
  readonly clock: Clock;
  readonly templates?: TemplateStore;
  readonly limits?: Partial<CallerLimits>;
  readonly refreshRules?: () => Promise<void>;
};

export const noLimits: CallerLimits = { senders: null, dailyRecipients: null, approvalAbove: null };

/** What a process that fires schedules works with. */
export function portsOf({ log, contentStore, clock, templates, limits, refreshRules }: ScheduleStage): SchedulePorts {
  const room = { isLeftForJobs: async () => true };
  return {
    log,
    contentStore,
    room,
    quota: {
      take: async ({ recipients, perDay, at }) =>
        recipients <= perDay ? { granted: true } : { granted: false, left: perDay, resetsAt: at },
    },
    templates: templates ?? createMemoryTemplateStore(),
    importer: createImporter({ log, contentStore, room, now: clock.now }),
    limitsOf: () => ({ ...noLimits, ...limits }),
    refreshRules: refreshRules ?? (async () => {}),
    approvalAbove: null,
    allowed: [],
    publicUrl: null,
    routesFor: () => ["default"],
    attemptsOfJob: 4,
    now: clock.now,
    until: clock.until,
    report: () => {},
  };
}

/** A process that fires schedules. */
export function followSchedules(stage: ScheduleStage, checkpoints: CheckpointStore): Listening {
  const listener = { ...createScheduleListener(portsOf(stage)), tryAgainMs: 5 };
  const listening = createListening({ log: stage.log, checkpoints, report: () => {} }, listener);
  listening.start();
  return listening;
}

export const letter = { subject: "Report", body: "Dear all", recipients: ["ada@example.com", "bob@example.com"] };

const usual: ScheduleSettings = {
  makes: "job",
  cron: "*/5 * * * *",
  timeZone: "UTC",
  overlap: "skip",
  catchUp: "none",
};

export async function addSchedule(
  { tenant = "default", log, contentStore, clock }: ScheduleStage,
  settings: Partial<ScheduleSettings> = {},
  template: Readonly<Record<string, unknown>> = letter,
  actor = cause.actor,
): Promise<JobRef> {
  const ref = { tenant, jobId: newId() };
  const request = { name: "Weekly", settings: { ...usual, ...settings }, template };
  const saved = await saveSchedule({ log, contentStore }, ref, {
    as: "new",
    requestSha256: null,
    request,
    cause: { ...cause, actor },
    at: clock.now(),
  });
  if (saved.outcome !== "accepted") throw new Error("The schedule was refused.");
  return ref;
}

/** Replaces all of a schedule. */
export async function changeSchedule(
  { log, contentStore, clock }: ScheduleStage,
  ref: JobRef,
  settings: Partial<ScheduleSettings>,
  template: Readonly<Record<string, unknown>>,
): Promise<void> {
  const request = { name: "Weekly", settings: { ...usual, ...settings }, template };
  const saved = await saveSchedule({ log, contentStore }, ref, { as: "change", request, cause, at: clock.now() });
  if (saved.outcome !== "accepted") throw new Error("The change was refused.");
}

export async function decideSchedule({ log }: ScheduleStage, ref: JobRef, command: ScheduleCommand): Promise<void> {
  const outcome = await handleScheduleCommand(log, ref, command, cause);
  if (outcome.outcome === "rejected") throw new Error(`${command.type} was refused: ${outcome.rejection.code}`);
}

async function everythingIn(log: EventLog): Promise<readonly LogEvent[]> {
  const { lastSequence } = await log.state();
  const found: LogEvent[] = [];
  const stop = new AbortController();
  for await (const batch of log.follow({ afterSequence: 0, maxEvents: 500, signal: stop.signal })) {
    found.push(...batch);
    if ((batch.at(-1)?.sequence ?? 0) >= lastSequence) break;
  }
  stop.abort();
  return found;
}

/** Everything that the log has about schedules so far, in its order. */
export const scheduleEventsIn = async (log: EventLog) => (await everythingIn(log)).filter(isOfSchedule);

/** Every job in the log, whoever made it. */
export async function jobsIn(log: EventLog): Promise<readonly string[]> {
  const isCreation = (event: LogEvent): boolean => isOfJob(event) && event.event.type === "JobCreated";
  return (await everythingIn(log)).filter(isCreation).map(({ jobId }) => jobId);
}

/** What happened to schedules, in short. */
export const historyOf = async ({ log }: ScheduleStage): Promise<readonly string[]> =>
  (await scheduleEventsIn(log)).map(({ event }) => {
    const { type, data } = event;
    const time = "dueAt" in data ? ` ${data.dueAt.slice(11, 16)}` : "";
    const more = type === "ScheduleSkipped" ? ` ${event.data.count} ${event.data.reason}` : "";
    return `${type.replace("Schedule", "")}${time}${more}`;
  });

/** What the firings so far are to make. */
export const firedBy = async ({ log }: ScheduleStage): Promise<readonly JobRef[]> =>
  (await scheduleEventsIn(log)).flatMap(({ tenant, event }) =>
    event.type === "ScheduleFired" ? [{ tenant, jobId: event.data.madeId }] : [],
  );

export const isMade = ({ log }: ScheduleStage, job: JobRef) =>
  eventually(async () => expect(await log.readDecisions(job)).to.not.have.lengthOf(0));

/** The job of the last firing is done, once it is made. */
export async function completeLast(stage: ScheduleStage): Promise<void> {
  const job = (await firedBy(stage)).at(-1) as JobRef;
  await isMade(stage, job);
  const own = { run: 1, attempt: 1, worker: "worker-1" };
  const done = counts({ total: 2, sent: 2 });
  const at = stage.clock.now();
  await handleCommand(stage.log, job, { type: "StartJob", at, ...own, opening: 0 }, cause);
  await handleCommand(stage.log, job, { type: "CompleteJob", at, ...own, counts: done }, cause);
}
