import type { Announcements } from "../../../src/event-log/following/announcements.ts";

/** For one process, as long as it lives. Like a message on its way, an announcement is heard a moment later. */
export function createMemoryAnnouncements(): Announcements {
  const listeners = new Map<string, Set<(sequence: number) => void>>();
  return {
    announce: (projection, sequence) => {
      queueMicrotask(() => {
        for (const heard of [...(listeners.get(projection) ?? [])]) heard(sequence);
      });
    },
    listen: (projection, heard) => {
      // The same function may listen twice, and each of the two stops on its own.
      const listener = (sequence: number): void => heard(sequence);
      const listening = listeners.get(projection) ?? new Set();
      listeners.set(projection, listening.add(listener));
      return () => {
        listening.delete(listener);
      };
    },
  };
}
