import type { Knex } from "knex";
import type { Announcements } from "../src/event-log/announcements.ts";
import { readCheckpoint } from "./checkpoint.ts";

export type ReadPositions = {
  /** How far the read model has come; 0 where it has not begun. */
  current(projection: string): Promise<number>;
  /**
   * Whether the read model comes as far as that within the time. Where it is there already this costs one small query.
   * Throws when the database cannot be asked.
   */
  waitFor(projection: string, sequence: number, timeoutMs: number): Promise<boolean>;
};

export function createReadPositions(db: Knex, announcements: Announcements): ReadPositions {
  const current = async (projection: string): Promise<number> => (await readCheckpoint(db, projection))?.sequence ?? 0;
  return {
    current,
    waitFor: async (projection, sequence, timeoutMs) => {
      // It listens before it looks: what is committed in between is heard.
      const arrival = listenFor(announcements, projection, sequence, timeoutMs);
      try {
        if ((await orAtDeadline(current(projection), arrival)) >= sequence) return true;
        return (await arrival.heard) || (await current(projection)) >= sequence;
      } finally {
        arrival.stop();
      }
    },
  };
}

type Arrival = {
  /** True once it is announced, false at the deadline. */
  readonly heard: Promise<boolean>;
  stop(): void;
};

function listenFor(
  announcements: Announcements,
  projection: string,
  sequence: number,
  timeoutMs: number,
): Arrival {
  let stop = (): void => {};
  const heard = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), timeoutMs);
    const stopListening = announcements.listen(projection, (reached) => {
      if (reached >= sequence) resolve(true);
    });
    stop = () => {
      clearTimeout(timer);
      stopListening();
      resolve(false);
    };
  });
  return { heard, stop };
}
