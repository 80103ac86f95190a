import type { AlertEvent } from "../../../src/domain/alerts/events.ts";
import type { MessagePassed } from "../../../src/domain/log/events.ts";
import { endOfBatch } from "../../../src/event-log/batches.ts";
import {
  alertsRef,
  type EventLog,
  type FollowOptions,
  isOfJob,
  isOfMailing,
  isOfSchedule,
  type JobRef,
  type LogEvent,
  logRef,
  type NewEntry,
  type StoredEvent,
  type WaybillEvent,
} from "../../../src/event-log/event-log.ts";
import { VersionConflict } from "../../../src/event-log/log-failures.ts";
import { isAboutFeedback, isAboutRecipients, isDecision, isNotice } from "../../../src/event-log/select-events.ts";
import { channelOf, channelOfEntry } from "../../../src/event-log/subjects.ts";
import { events as eventTable } from "../../../src/schemas/events.ts";

type Stored = StoredEvent<WaybillEvent>;

const nameOf = ({ tenant, jobId }: JobRef): string => `${tenant}/${jobId}`;

/** Keeps events as long as the process lives; however much later it is said again, an id is stored once. */
export function createMemoryEventLog(createdAt = new Date().toISOString()): EventLog {
  const events: Stored[] = [];
  const histories = new Map<string, Stored[]>();
  let lastSequence = 0;
  const sequences = new Map<string, number>();
  const stored = createBell();
  const decided = createBell();

  const everythingAbout = (job: JobRef): readonly Stored[] => histories.get(nameOf(job)) ?? [];
  const historyOf = (job: JobRef): readonly StoredEvent[] => everythingAbout(job).filter(isOfJob);
  const lastDecisionOf = (job: JobRef): number => historyOf(job).findLast(isDecision)?.sequence ?? 0;

  const store = ({ tenant, jobId }: JobRef, entry: NewEntry): number => {
    lastSequence += 1;
    const sequence = lastSequence;
    const name = nameOf({ tenant, jobId });
    const history = histories.get(name) ?? [];
    histories.set(name, history);
    // A copy, as from the wire: what a caller changes in its own object afterwards is not what was stored.
    for (const [index, event] of copyOf(entry).entries()) {
      const one = { ...event, tenant, jobId, sequence, index };
      events.push(one);
      history.push(one);
      if (isDecision(one)) decided.ring(name);
    }
    sequences.set(entry[0].id, sequence);
    stored.ring("");
    return sequence;
  };

  return {
    append: async (job, entry, expectedSequence) => {
      const channel = channelOfEntry(entry);
      const last = everythingAbout(job).findLast(({ event }) => channelOf(event) === channel)?.sequence ?? 0;
      const [{ id }] = entry;
      if (last !== expectedSequence || sequences.has(id)) {
        throw new VersionConflict(`${id} expected ${expectedSequence}; the last of its subject is ${last}.`);
      }
      return store(job, entry);
    },
    record: async (job, entry) => sequences.get(entry[0].id) ?? store(job, entry),
    readDecisions: async (job) => historyOf(job).filter(isDecision),
    readMailing: async (mailing, from = 0) => {
      const events = everythingAbout(mailing).filter(isOfMailing);
      return events.some(({ sequence }) => sequence === from)
        ? events.filter(({ sequence }) => sequence >= from)
        : events;
    },
    readSchedule: async (schedule) => everythingAbout(schedule).findLast(isOfSchedule) ?? null,
    readRecipients: async (job) => historyOf(job).filter(isAboutRecipients),
    readFeedback: async (job, from = 0) => {
      const events = historyOf(job).filter(isAboutFeedback);
      return events.some(({ sequence }) => sequence === from)
        ? events.filter(({ sequence }) => sequence >= from)
        : events;
    },
    readNotices: async (job) => historyOf(job).filter(isNotice),
    readHistory: async (job) => historyOf(job),
    lastDecision: async (job) => lastDecisionOf(job),
    onDecision: (job, heard) => decided.listen(nameOf(job), heard),
    readAlerts: async (from) => {
      const all = everythingAbout(alertsRef).filter(isAlert);
      return all.slice(
        Math.max(
          0,
          all.findIndex(({ sequence }) => sequence === from),
        ),
      );
    },
    readPasses: async () => everythingAbout(logRef).filter(isPass),
    state: async () => ({ createdAt, lastSequence, mayLag: true }),
    follow: (options) => followEvents(events, stored, options),
  };
}

/** Half of the time of structuredClone. */
const copyOf = <Copied>(one: Copied): Copied => JSON.parse(JSON.stringify(one));

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
  events: readonly Stored[],
  stored: Bell,
  { afterSequence, maxEvents, signal, wantsFacts }: FollowOptions,
): AsyncGenerator<readonly LogEvent[]> {
  let next = events.findIndex(({ sequence }) => sequence > afterSequence);
  if (next < 0) next = events.length;
  while (!signal.aborted) {
    if (next === events.length) {
      await nextRing(stored, signal);
      continue;
    }
    const end = endOfBatch(events, next, maxEvents);
    const batch = events.slice(next, end);
    next = end;
    yield wantsFacts?.() === false ? batch.flatMap((event) => withoutFacts(event, batch)) : batch;
  }
}

/** An entry of facts becomes one event that is not known. */
function withoutFacts(stored: Stored, all: readonly Stored[]): readonly LogEvent[] {
  const { tenant, jobId, sequence, index } = stored;
  const isOfEntry = (other: Stored): boolean => other.sequence === sequence;
  if (all.filter(isOfEntry).some(({ event }) => channelOf(event) !== "facts")) return [stored];
  return index === 0 ? [{ tenant, jobId, sequence, index, unknownType: "unwanted" }] : [];
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

const isAlert = (stored: Stored): stored is StoredEvent<AlertEvent> =>
  eventTable[stored.event.type].channel === "alert";

const isPass = (stored: Stored): stored is StoredEvent<MessagePassed> => stored.event.type === "MessagePassed";
