/** A process cannot start, and waiting does not help: the message contains the remedy for the operator. */
export class CannotStart extends Error {
  override readonly name: string = "CannotStart";
}

export type Lifecycle = {
  /** Registers a started part by its name and the function that stops it. */
  started(name: string, stop: () => Promise<void>): void;
  /** Aborts once everything is to stop. A part that could delay the stop for long listens to it and gives up in time. */
  readonly stopping: AbortSignal;
  /** Aborts `stopping` before the stop itself begins. */
  announceStop(): void;
  /** Stops every part once, in reverse order, even if another one fails to stop. A second call waits for the same stop. */
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
