import { setTimeout as pause } from "node:timers/promises";
import type { Knex } from "knex";
import type { Announcements } from "../../src/event-log/announcements.ts";
import { readCheckpoint } from "./checkpoint.ts";

/** For the last look, after the deadline: a database that is frozen shall not hold up the answer. */
const lastLookMs = 500;

export type ReadPositions = {
  /** How far the read model has come; 0 where it has not begun. */
  current(projection: string): Promise<number>;
  /**
   * Whether the read model comes as far as that within the time. Where it is there already this costs one small query.
   * Throws when the database cannot be reached.
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
      // It listens before it looks: what is committed in between is heard.
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
  // What comes after the deadline, a failure too, is nobody's concern any more.
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
