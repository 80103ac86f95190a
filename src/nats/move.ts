import { setTimeout as pause } from "node:timers/promises";
import type { NatsConnection } from "nats";
import type { Requests } from "./requests.ts";
import { goNextTo } from "./server-pool.ts";

/** Longer than a server keeps what a worker asks for: what it hands out then has arrived. */
const quietMs = 150;
/** Together well below what a request waits for its answer: what is kept back meanwhile is only late. */
const drainMs = 600;
const reconnectMs = 600;
const lookAgainMs = 10;

/**
 * Goes to another server without breaking a request: new ones are kept back, those on their way are answered, and then
 * the connection changes, in some milliseconds. Where they are not answered soon, nothing is done: it is no good moment.
 * Requests that the client makes by itself, as for buckets, are kept back as well.
 */
export function createMove(
  nats: NatsConnection,
  requests: Requests,
  onReconnect: (reconnected: () => void) => () => void,
  moving: (isMoving: boolean) => void,
): (place: string) => Promise<void> {
  const others = gateRequests(nats);
  const drained = async (): Promise<boolean> => {
    const begunAt = performance.now();
    for (;;) {
      const passedMs = performance.now() - begunAt;
      if (passedMs >= quietMs && requests.inFlight() <= 0 && others.inFlight() === 0) return true;
      if (passedMs >= drainMs) return false;
      await pause(lookAgainMs);
    }
  };
  return async (place) => {
    requests.hold();
    others.hold();
    moving(true);
    try {
      if (!(await drained()) || nats.isClosed()) return;
      goNextTo(nats, place);
      await reconnected(nats, onReconnect);
    } finally {
      moving(false);
      requests.release();
      others.release();
    }
  };
}

async function reconnected(nats: NatsConnection, onReconnect: (reconnected: () => void) => () => void): Promise<void> {
  const over = new AbortController();
  const stopListening = onReconnect(() => over.abort());
  await nats.reconnect();
  await pause(reconnectMs, undefined, { signal: over.signal }).catch(() => {});
  stopListening();
}

type Gate = Pick<Requests, "hold" | "release" | "inFlight">;

/** For the requests that the client makes by itself: all of them are made with this one method of its. */
function gateRequests(nats: NatsConnection): Gate {
  let count = 0;
  let opened: Promise<void> | null = null;
  let open: () => void = () => {};
  const request = nats.request.bind(nats);
  nats.request = async (...given) => {
    if (opened !== null) await opened;
    count += 1;
    try {
      return await request(...given);
    } finally {
      count -= 1;
    }
  };
  return {
    inFlight: () => count,
    hold: () => {
      opened = new Promise((resolve) => {
        open = resolve;
      });
    },
    release: () => {
      opened = null;
      open();
    },
  };
}
