export type Lifecycle = {
  /** Names what was started and how to stop it. */
  started(name: string, stop: () => Promise<void>): void;
  /** Stops everything in reverse order, each once, whatever the one before did; called again, it waits for the same. */
  stop(): Promise<void>;
};

type Report = (failure: unknown, name: string) => void;

export function createLifecycle(report: Report): Lifecycle {
  const parts: { name: string; stop: () => Promise<void> }[] = [];
  let stopping: Promise<void> | null = null;

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
    stop: () => {
      stopping ??= stopAll();
      return stopping;
    },
  };
}
