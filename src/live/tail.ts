import type { EventLog, JobRef, LogEntry, StoredEvent, WaybillEvent } from "../event-log/event-log.ts";

export type Listener = {
  /** Called in the order of the log; it must neither wait nor throw. */
  readonly hear: (entry: StoredEvent<WaybillEvent>) => void;
  /** The tail broke: nothing more will be heard, and whoever wants more begins anew. */
  readonly broken: (failure: unknown) => void;
};

/** Whose events are heard: one job's, or all of a tenant. */
export type Topic = JobRef | { readonly tenant: string; readonly jobId: null };

/**
 * What is appended to the log from now on, read once for everybody in this process who listens. Returns when it
 * listens: every event stored from then on is heard, once, in the order of the log; some of those stored shortly
 * before may be heard too. Whoever needs the past as well asks where the log stands *after* this has returned, reads
 * up to there, and leaves out what is heard again. The log is read as long as somebody listens, and a while longer.
 */
export interface Tail {
  /** Throws Unavailable where the log cannot be asked. Answers how to stop listening. */
  listen(topic: Topic, listener: Listener): Promise<() => void>;
  /** The last event that was told to those who listen to it. */
  position(): number;
  /** How many listen: for those who watch this process. */
  listeners(): number;
  close(): void;
}

const maxEvents = 500;
/** Short requests come one after the other: each would make the server begin and end a reader. */
const defaultLingerMs = 30_000;

type Reading = { readonly begun: Promise<void>; readonly stop: () => void };

export function createTail(log: EventLog, report: (failure: unknown) => void, lingerMs = defaultLingerMs): Tail {
  const topics = new Map<string, Set<Listener>>();
  let count = 0;
  let position = 0;
  let reading: Reading | null = null;
  let lingering: NodeJS.Timeout | undefined;

  const tell = (topic: string, entry: StoredEvent<WaybillEvent>): void => {
    for (const listener of topics.get(topic) ?? []) listener.hear(entry);
  };
  const breakOff = (failure: unknown): void => {
    report(failure);
    reading = null;
    for (const listeners of [...topics.values()]) for (const listener of listeners) listener.broken(failure);
  };

  const begin = (): Reading => {
    const stopping = new AbortController();
    const begun = log.state().then(({ lastSequence }) => {
      position = lastSequence;
      const following = readOn(log, lastSequence, stopping.signal, (entry) => {
        position = entry.sequence;
        if (!("event" in entry)) return;
        tell(nameOf(entry), entry);
        tell(nameOf({ tenant: entry.tenant, jobId: null }), entry);
      });
      // An event that this release cannot read: nobody may be told what comes after it as if nothing were missing.
      following.catch(breakOff);
    });
    const begunReading = { begun, stop: () => stopping.abort() };
    begun.catch(() => {
      if (reading === begunReading) reading = null;
    });
    return begunReading;
  };
  const end = (): void => {
    reading?.stop();
    reading = null;
  };

  const leave = (name: string, listener: Listener): void => {
    const listeners = topics.get(name);
    if (!listeners?.delete(listener)) return;
    if (listeners.size === 0) topics.delete(name);
    count -= 1;
    if (count === 0) lingering = setTimeout(end, lingerMs).unref();
  };

  return {
    listen: async (topic, listener) => {
      clearTimeout(lingering);
      const name = nameOf(topic);
      topics.set(name, (topics.get(name) ?? new Set()).add(listener));
      count += 1;
      reading ??= begin();
      try {
        await reading.begun;
      } catch (failure) {
        leave(name, listener);
        throw failure;
      }
      return () => leave(name, listener);
    },
    position: () => position,
    listeners: () => count,
    close: () => {
      clearTimeout(lingering);
      end();
    },
  };
}

async function readOn(
  log: EventLog,
  afterSequence: number,
  signal: AbortSignal,
  tell: (entry: LogEntry) => void,
): Promise<void> {
  for await (const batch of log.follow({ afterSequence, maxEvents, signal })) {
    if (signal.aborted) return;
    for (const entry of batch) tell(entry);
  }
}

/** No tenant's name holds a slash. */
const nameOf = ({ tenant, jobId }: Topic): string => (jobId === null ? tenant : `${tenant}/${jobId}`);

type Notifier = {
  /** Ends the wait that is going on, if there is one. */
  readonly notify: () => void;
  /** Waits for the next notification, the end of the time, or the signal. Callers look first, and again afterwards. */
  readonly wait: (ms: number) => Promise<void>;
};

/** For one caller that waits. */
export function createNotifier(signal: AbortSignal): Notifier {
  let endWait = (): void => {};
  return {
    notify: () => endWait(),
    wait: (ms) =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          endWait = () => {};
          resolve();
        };
        const timer = setTimeout(done, Math.max(0, ms));
        signal.addEventListener("abort", done);
        endWait = done;
        if (signal.aborted) done();
      }),
  };
}
