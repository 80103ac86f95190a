import { createPollLoop, type PollLoop } from "../../process/poll-loop.ts";
import type { ReceiversOfRoutes, ThrottleChange } from "./receivers.ts";
import type { Planned, ThrottleRecords } from "./record-throttles.ts";
import type { ThrottleStore } from "./throttle-store.ts";

export type Sharing = {
  readonly store: ThrottleStore;
  readonly routes: ReceiversOfRoutes;
  /** Null where the log is told of nothing. */
  readonly records: ThrottleRecords | null;
  readonly report: (failure: unknown) => void;
};

const everyMs = 500;
/** An announcement can be lost. Every worker asks. */
const askAnywayMs = 30_000;
/** An announcement can come before its entry is stored. */
const askAgainMs = 1000;
/** In one round; the others follow in the next. */
const mostAtOnce = 100;
const atATime = 10;

/**
 * Stores what this worker has learned of its receivers, and takes over what others have: so all slow down together, and
 * a worker that starts knows it. While the store is away, each worker goes by what it hears itself. A worker that dies
 * between the store and the log leaves the log without one event.
 */
export function shareThrottles({ store, routes, records, report }: Sharing): PollLoop {
  const storeOne = async (route: string, { receiver, toThrottle }: ThrottleChange): Promise<void> => {
    let planned: Planned | null = null;
    const after = await store.change(route, receiver, (before) => {
      const next = toThrottle(before);
      planned = records?.plan(route, receiver, before, next) ?? { after: next, event: null, id: "" };
      return planned.after;
    });
    routes.of(route).stored(receiver, after);
    const { event, id } = planned ?? nothingPlanned;
    if (event !== null) await records?.record(event, id);
  };
  let isAnnounced = true;
  let askAt = 0;
  const followOthers = async (): Promise<void> => {
    if (!isAnnounced && performance.now() < askAt) return;
    const nextMs = isAnnounced ? askAgainMs : askAnywayMs;
    isAnnounced = false;
    askAt = 0;
    for (const { route, receiver, throttle } of await store.changes()) routes.of(route).followed(receiver, throttle);
    askAt = performance.now() + nextMs;
  };
  const stopListening = store.onChange(() => {
    isAnnounced = true;
  });
  const loop = createPollLoop({
    everyMs,
    report,
    poll: async () => {
      await followOthers();
      for (const [route, receivers] of routes.all()) {
        const due = receivers.changes().slice(0, mostAtOnce);
        for (let from = 0; from < due.length; from += atATime) {
          await Promise.all(due.slice(from, from + atATime).map((change) => storeOne(route, change)));
        }
      }
      return "done";
    },
  });
  return {
    start: loop.start,
    stop: async () => {
      stopListening();
      await loop.stop();
    },
  };
}

const nothingPlanned: Planned = { after: null, event: null, id: "" };
