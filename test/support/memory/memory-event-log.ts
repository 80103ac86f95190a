import type { AlertEvent } from "../../../src/domain/alerts/events.ts";
import type { JobEvent } from "../../../src/domain/job/events.ts";
import type { MessagePassed } from "../../../src/domain/log/events.ts";
import type { RecipientEvent } from "../../../src/domain/recipients/events.ts";
import {
  alertsRef,
  type EventLog,
  type FollowOptions,
  isOfJob,
  type JobRef,
  logRef,
  type NewEvent,
  type Notice,
  type StoredEvent,
  VersionConflict,
  type WaybillEvent,
} from "../../../src/event-log/event-log.ts";
import { channelOf } from "../../../src/event-log/subjects.ts";

type Entry = StoredEvent<WaybillEvent>;

const nameOf = ({ tenant, jobId }: JobRef): string => `${tenant}/${jobId}`;

/** Keeps events as long as the process lives; however much later it is said again, an id is stored once. */
export function createMemoryEventLog(createdAt = new Date().toISOString()): EventLog {
  const events: Entry[] = [];
  const histories = new Map<string, Entry[]>();
  const sequences = new Map<string, number>();
  const stored = createBell();
  const decided = createBell();

  const everythingAbout = (job: JobRef): readonly Entry[] => histories.get(nameOf(job)) ?? [];
  const historyOf = (job: JobRef): readonly StoredEvent[] => everythingAbout(job).filter(isOfJob);
  const lastDecisionOf = (job: JobRef): number => historyOf(job).findLast(isDecision)?.sequence ?? 0;

  const store = ({ tenant, jobId }: JobRef, event: NewEvent): number => {
    const sequence = events.length + 1;
    // A copy, as from the wire: what a caller changes in its own object afterwards is not what was stored.
    const entry = { ...structuredClone(event), tenant, jobId, sequence, channel: channelOf(event.event) };
    const name = nameOf(entry);
    events.push(entry);
    sequences.set(event.id, sequence);
    const history = histories.get(name) ?? [];
    histories.set(name, history);
    history.push(entry);
    stored.ring("");
    if (isDecision(entry)) decided.ring(name);
    return sequence;
  };

  return {
    append: async (job, event, expectedSequence) => {
      const channel = channelOf(event.event);
      const last = everythingAbout(job).findLast((entry) => entry.channel === channel)?.sequence ?? 0;
      if (last !== expectedSequence || sequences.has(event.id)) {
        throw new VersionConflict(`${event.id} expected ${expectedSequence}; the last of its subject is ${last}.`);
      }
      return store(job, event);
    },
    record: async (job, event) => sequences.get(event.id) ?? store(job, event),
    readDecisions: async (job) => historyOf(job).filter(isDecision),
    readRecipients: async (job) => historyOf(job).filter(isAboutRecipients),
    readNotices: async (job) => historyOf(job).filter(isNotice),
    readHistory: async (job) => historyOf(job),
    lastDecision: async (job) => lastDecisionOf(job),
    onDecision: (job, heard) => decided.listen(nameOf(job), heard),
    readAlerts: async () => everythingAbout(alertsRef).filter(isAboutAlert),
    readPasses: async () => everythingAbout(logRef).filter(isPass),
    state: async () => ({ createdAt, lastSequence: events.length }),
    follow: (options) => followEvents(events, stored, options),
  };
}

type Bell = ReturnType<typeof createBell>;

/** Notifies listeners a moment later, as a network would. */
function createBell() {
  const listeners = new Map<string, Set<() => void>>();
  return {
    ring: (name: string): void => {
      for (const listener of listeners.get(name) ?? []) queueMicrotask(listener);
    },
    listen: (name: string, heard: () => void): (() => void) => {
      const listener = (): void => heard();
      const listening = listeners.get(name) ?? new Set();
      listeners.set(name, listening.add(listener));
      return () => {
        listening.delete(listener);
      };
    },
  };
}

async function* followEvents(
  events: readonly Entry[],
  stored: Bell,
  { afterSequence, maxEvents, signal }: FollowOptions,
): AsyncGenerator<readonly Entry[]> {
  let position = afterSequence;
  while (!signal.aborted) {
    const batch = events.slice(position, position + maxEvents);
    position += batch.length;
    if (batch.length > 0) yield batch;
    else await nextRing(stored, signal);
  }
}

function nextRing(bell: Bell, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const goOn = (): void => {
      stopListening();
      signal.removeEventListener("abort", goOn);
      resolve();
    };
    const stopListening = bell.listen("", goOn);
    signal.addEventListener("abort", goOn);
  });
}

const isDecision = (entry: Entry): entry is StoredEvent<JobEvent> => entry.channel === "job";

const isAboutRecipients = (entry: StoredEvent): entry is StoredEvent<RecipientEvent> =>
  entry.channel === "recipients" && entry.event.type !== "ResultStored";

const isAboutAlert = (entry: Entry): entry is StoredEvent<AlertEvent> => entry.channel === "alert";

const isPass = (entry: Entry): entry is StoredEvent<MessagePassed> => entry.channel === "pass";

const isNotice = (entry: StoredEvent): entry is StoredEvent<Notice> => entry.channel === "notify";
