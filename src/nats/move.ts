import { setTimeout as pause } from "node:timers/promises";
import type { NatsConnection } from "nats";
import type { Requests } from "./requests.ts";
import { goNextTo } from "./server-pool.ts";

/** Longer than a server holds a worker's pull request: the messages that it delivers have arrived by then. */
const quietMs = 150;
/** The two together stay well below the timeout of a request: a request held back meanwhile is only late. */
const drainMs = 600;
const reconnectMs = 600;
const lookAgainMs = 10;

/**
 * Moves to another server without breaking a request: it holds back new requests, waits for the answers of those in
 * flight, and then switches the connection, which takes some milliseconds. If the answers do not come soon, it does
 * nothing and leaves the move for a better moment. Requests that the client itself makes, for buckets for example, are
 * held back as well.
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
  // It rejects where the connection is being closed.
  await nats.reconnect().catch(() => {});
  await pause(reconnectMs, undefined, { signal: over.signal }).catch(() => {});
  stopListening();
}

type Gate = Pick<Requests, "hold" | "release" | "inFlight">;

/** Covers the requests that the client itself makes: all of them go through this one method. */
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
