import { endOfLog } from "../../event-log/end-of-log.ts";
import type { EventLog, JobRef, LogEvent, StoredEvent, WaybillEvent } from "../../event-log/event-log.ts";

export type Listener = {
  /** Called in the order of the log; it must neither wait nor throw. */
  readonly hear: (entry: StoredEvent<WaybillEvent>) => void;
  /** The tail broke and delivers nothing more; a listener that wants more subscribes anew. */
  readonly broken: (failure: unknown) => void;
};

/** The topic of a listener: the events of one job, or all events of a tenant. */
export type Topic = JobRef | { readonly tenant: string; readonly jobId: null };

/**
 * Reads what is appended to the log from now on, once for all listeners in this process. Returns when it listens: every
 * event stored from then on is delivered once, in the order of the log; some of those stored shortly before may be
 * delivered too. A caller that needs the past as well asks for its end (`endOfPast`) *after* this has returned, reads up to
 * there, and leaves out what is delivered again. The log is read as long as there are listeners, and a while longer.
 */
export interface Tail {
  /** Throws Unavailable where the log cannot be reached. Returns a function that stops listening. */
  listen(topic: Topic, listener: Listener): Promise<() => void>;
  /** The last event that was delivered to listeners. */
  position(): number;
  /** The number of listeners, for the metrics of this process. */
  listeners(): number;
  close(): void;
}

/**
 * Up to where a listener reads the past, asked for once it listens. A new leader may answer an end before what the tail has
 * delivered to others, and will not deliver again.
 */
export async function endOfPast(log: Pick<EventLog, "state">, tail: Pick<Tail, "position">, seen = 0): Promise<number> {
  const delivered = tail.position();
  return Math.max(delivered, await endOfLog(log, Math.max(delivered, seen)));
}

const maxEvents = 500;
/** Short requests follow one another: without this delay, each would make the server begin and end a reader. */
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
    const listening = [...topics.values()].flatMap((listeners) => [...listeners]);
    // The next listener begins the tail anew, later in the log: these would hear what comes after a gap.
    topics.clear();
    count = 0;
    for (const listener of listening) listener.broken(failure);
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
      // An event that this release cannot read: delivering what comes after it would hide the gap from the listeners.
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
  tell: (entry: LogEvent) => void,
): Promise<void> {
  for await (const batch of log.follow({ afterSequence, maxEvents, signal })) {
    if (signal.aborted) return;
    for (const entry of batch) tell(entry);
  }
}

/** No tenant's name contains a slash. */
const nameOf = ({ tenant, jobId }: Topic): string => (jobId === null ? tenant : `${tenant}/${jobId}`);

type Notifier = {
  /** Ends the present wait, if there is one. */
  readonly notify: () => void;
  /** Waits for the next notification, the end of the time, or the signal. Callers check before the call, and again after it. */
  readonly wait: (ms: number) => Promise<void>;
};

/** Serves one caller that waits. */
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
