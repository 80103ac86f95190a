import type { JobSettings } from "../../src/domain/job/events.ts";
import {
  jobCancelled,
  jobCompleted,
  jobCreated,
  jobFailed,
  jobPaused,
  jobRetryScheduled,
  jobStarted,
  later,
} from "./examples.ts";

type Settings = Partial<JobSettings>;

/** How a job comes into each status that the decider tells apart, by the shortest way. */
export const pending = (settings: Settings = {}) => [jobCreated(settings)];
export const scheduled = (settings: Settings = {}) => [jobCreated({ scheduledAt: later, ...settings })];
export const processing = (settings: Settings = {}) => [...pending(settings), jobStarted()];
export const retrying = (settings: Settings = {}) => [...processing(settings), jobRetryScheduled()];
export const paused = (settings: Settings = {}) => [...pending(settings), jobPaused()];
export const completed = (settings: Settings = {}) => [...processing(settings), jobCompleted()];
export const failed = (settings: Settings = {}) => [...processing(settings), jobFailed()];
export const cancelled = (settings: Settings = {}) => [...pending(settings), jobCancelled()];

export const waiting = { pending, scheduled, retrying };
export const ended = { completed, failed, cancelled };
export const everyStatus = { ...waiting, processing, paused, ...ended };

type Named<Of> = { [Status in keyof Of]: [Status, Of[Status]] }[keyof Of];

/** To tell one story of every status in a group. Object.entries forgets which key goes with which value. */
export const each = <Group extends Partial<typeof everyStatus>>(group: Group): readonly Named<Group>[] =>
  Object.entries(group) as unknown as Named<Group>[];
