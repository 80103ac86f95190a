/** A process cannot start, and waiting does not help: the message tells the operator what to do. */
export class CannotStart extends Error {
  override readonly name: string = "CannotStart";
}

export type Lifecycle = {
  /** Names what was started and how to stop it. */
  started(name: string, stop: () => Promise<void>): void;
  /** Aborts once all of it is to stop: what could hold that up for long looks out for itself. */
  readonly stopping: AbortSignal;
  /** Says so before the stop itself begins. */
  announceStop(): void;
  /** Stops everything in reverse order, each once, whatever the one before did; called again, it waits for the same. */
  stop(): Promise<void>;
};

type Report = (failure: unknown, name: string) => void;

export function createLifecycle(report: Report): Lifecycle {
  const parts: { name: string; stop: () => Promise<void> }[] = [];
  const announced = new AbortController();
  let stopped: Promise<void> | null = null;

  const stopAll = async (): Promise<void> => {
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      try {
        await part.stop();
      } catch (failure) {
        report(failure, part.name);
      }
    }
  };

  return {
    started: (name, stop) => {
      parts.push({ name, stop });
    },
    stopping: announced.signal,
    announceStop: () => announced.abort(),
    stop: () => {
      announced.abort();
      stopped ??= stopAll();
      return stopped;
    },
  };
}
