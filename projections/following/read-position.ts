import { setTimeout as pause } from "node:timers/promises";
import type { Knex } from "knex";
import type { Announcements } from "../../src/event-log/following/announcements.ts";
import { readCheckpoint } from "./checkpoint.ts";

/** The time limit of the last look, after the deadline: a frozen database must not delay the answer. */
const lastLookMs = 500;

export type ReadPositions = {
  /** The sequence that the read model has reached; 0 if it has not begun. */
  current(projection: string): Promise<number>;
  /**
   * Whether the read model reaches the sequence in time. If it is there already, this costs one small query. Throws if
   * the database cannot be reached.
   */
  waitFor(projection: string, sequence: number, timeoutMs: number): Promise<boolean>;
};

export function createReadPositions(db: Knex, announcements: Announcements): ReadPositions {
  const current = async (projection: string): Promise<number> => (await readCheckpoint(db, projection))?.sequence ?? 0;
  const isThere = async (projection: string, sequence: number): Promise<boolean> =>
    (await current(projection)) >= sequence;
  return {
    current,
    waitFor: async (projection, sequence, timeoutMs) => {
      // Subscribe first, then read: a commit in between is not missed.
      const arrival = listenFor(announcements, projection, sequence, timeoutMs);
      try {
        const isThereAlready = isThere(projection, sequence);
        if (await firstOf(isThereAlready, arrival.heard)) return true;
        if (await arrival.heard) return true;
        return await firstOf(isThere(projection, sequence), pause(lastLookMs, false, { ref: false }));
      } finally {
        arrival.stop();
      }
    },
  };
}

function firstOf(asked: Promise<boolean>, deadline: Promise<boolean>): Promise<boolean> {
  // A result after the deadline, a failure included, has no reader.
  asked.catch(() => {});
  return Promise.race([asked, deadline]);
}

type Arrival = {
  /** True once it is announced, false at the deadline. */
  readonly heard: Promise<boolean>;
  readonly stop: () => void;
};

function listenFor(announcements: Announcements, projection: string, sequence: number, timeoutMs: number): Arrival {
  let stop = (): void => {};
  const heard = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), timeoutMs);
    const stopListening = announcements.listen(projection, (reached) => {
      if (reached >= sequence) resolve(true);
    });
    stop = () => {
      clearTimeout(timer);
      stopListening();
    };
  });
  return { heard, stop };
}
