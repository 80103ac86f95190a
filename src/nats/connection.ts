import { readFileSync } from "node:fs";
import { type ConnectionOptions, connect, credsAuthenticator, type NatsConnection } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { createMove } from "./move.ts";
import { watchNode } from "./node-watch.ts";
import { isUnanswered, isUnreachable, waitSilently } from "./outages.ts";
import type { Patience } from "./patience.ts";
import { createRequests, type Requests } from "./requests.ts";
import { completePool, createPreference, goNextTo } from "./server-pool.ts";

export type ConnectSettings = {
  readonly servers: readonly string[];
  readonly user: string | null;
  readonly password: string | null;
  readonly credsFile: string | null;
  readonly caFile: string | null;
};

/** One connection to NATS, and whether it stands: what is asked while it does not is refused at once, not queued. */
export type JetStreamConnection = {
  readonly nats: NatsConnection;
  readonly isUp: () => boolean;
  /** Calls back each time the connection stands again: requests that were on their way are lost then. */
  readonly onReconnect: (reconnected: () => void) => () => void;
  /** A request of NATS; its failures are for `asking` to read. */
  readonly request: Requests["request"];
  readonly say: Requests["say"];
  readonly along: Requests["along"];
  /** Tells that NATS did not answer something: whether it is the server that this client is with is found out then. */
  readonly unanswered: () => void;
  readonly close: () => Promise<void>;
};

type Notice = (message: string) => void;

/**
 * Waits for the server as `patiently` does, as long as it takes by default; once it stands, the connection is never
 * given up, and goes from one server to another as jetstream-node-watch.ts says. Throws what the client throws, at once
 * where waiting does not help.
 */
export async function connectJetStream(
  settings: ConnectSettings,
  name: string,
  notice: Notice,
  patiently: Patience = waitSilently,
  lookEveryMs?: number,
): Promise<JetStreamConnection> {
  const inOrder = createPreference();
  const nats = await connectFirst({ ...settings, servers: inOrder(settings.servers) }, name, patiently);
  const listeners = new Set<() => void>();
  let isConnected = true;
  let isMoving = false;
  const isUp = (): boolean => (isConnected || isMoving) && !nats.isClosed();
  const requests = createRequests(nats, isUp, () => node.unanswered());
  const onReconnect = (reconnected: () => void) => {
    listeners.add(reconnected);
    return () => listeners.delete(reconnected);
  };
  const move = createMove(nats, requests, onReconnect, (moving) => {
    isMoving = moving;
  });
  const node = watchNode({
    nats,
    inOrder,
    notice,
    visit: (place) => connect({ ...toOptions(settings, `${name}-visit`), ...forVisit, servers: [place] }),
    leaveFor: (place) => {
      goNextTo(nats, place);
      void nats.reconnect();
    },
    moveTo: move,
    ...(lookEveryMs === undefined ? {} : { lookEveryMs }),
  });
  const watch = async (): Promise<void> => {
    for await (const status of nats.status()) {
      if (status.permissionContext?.operation === "publish") requests.refuse(status.permissionContext.subject);
      if (status.type === "disconnect") {
        isConnected = false;
        if (!isMoving) notice("The connection to NATS is lost; trying again until it stands.");
      }
      if (status.type === "reconnect") {
        isConnected = true;
        node.connected();
        if (!isMoving) notice("The connection to NATS stands again.");
        for (const reconnected of listeners) reconnected();
      }
    }
  };
  // The client's status iterator does not end with the connection: nobody may wait for it.
  watch().catch(() => {});
  return {
    nats,
    isUp,
    request: requests.request,
    say: requests.say,
    along: requests.along,
    unanswered: node.unanswered,
    onReconnect,
    close: async () => {
      node.stop();
      // A drain flushes the acknowledgements that are still in the buffer; without a connection there is no use in it.
      requests.flush();
      if (isUp()) await nats.drain().catch(() => nats.close());
      else await nats.close();
    },
  };
}

/** One server, and no second try. */
const forVisit = { reconnect: false, ignoreClusterUpdates: true, timeout: 2000 } as const;

async function connectFirst(settings: ConnectSettings, name: string, patiently: Patience): Promise<NatsConnection> {
  let isWanted = true;
  const tryOnce = async (): Promise<NatsConnection> => {
    try {
      // By itself the client would try until it is there, and nobody could tell it to stop.
      const nats = await connect({ ...toOptions(settings, name), waitOnFirstConnect: false });
      if (!isWanted) await nats.close();
      return nats;
    } catch (failure) {
      throw isUnreachable(failure) ? new Unavailable("NATS cannot be reached.", { cause: failure }) : failure;
    }
  };
  try {
    const nats = await patiently(tryOnce);
    completePool(nats, settings.servers);
    return nats;
  } finally {
    isWanted = false;
  }
}

/** How Waybill connects: it never gives up. */
export function toOptions(settings: ConnectSettings, name: string): ConnectionOptions {
  return {
    servers: [...settings.servers],
    name,
    // The client's default gives up after 20 s for good, and finds a dead link after 4 minutes.
    maxReconnectAttempts: -1,
    // A server that was given other accounts, and is given the old ones again, is to be had again.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: 500,
    reconnectJitter: 500,
    // For each server that is tried: one that is frozen takes connections, and says nothing.
    timeout: 5000,
    // A frozen server is found out within six seconds.
    pingInterval: 2000,
    maxPingOut: 2,
    noRandomize: true,
    ...(settings.user === null ? {} : { user: settings.user }),
    ...(settings.password === null ? {} : { pass: settings.password }),
    ...(settings.credsFile === null ? {} : { authenticator: credsAuthenticator(readFileSync(settings.credsFile)) }),
    ...(settings.caFile === null ? {} : { tls: { caFile: settings.caFile } }),
  };
}

export { isUnanswered };

/** Runs a request; what is no answer becomes Unavailable, and without a connection it is not even tried. */
export async function asking<Answer>(connection: JetStreamConnection, ask: () => Promise<Answer>): Promise<Answer> {
  if (!connection.isUp()) throw new Unavailable("There is no connection to NATS.");
  try {
    return await ask();
  } catch (failure) {
    if (isUnanswered(failure)) {
      connection.unanswered();
      throw new Unavailable("NATS did not answer.", { cause: failure });
    }
    throw failure;
  }
}

export const nanosOf = (ms: number): number => ms * 1_000_000;

/**
 * The largest message that the server takes, in bytes. Between two connections the client does not know it: the last
 * known value is used then.
 */
export function payloadLimit({ nats, onReconnect }: JetStreamConnection): () => number {
  let known = nats.info?.max_payload ?? 0;
  onReconnect(() => {
    known = nats.info?.max_payload ?? known;
  });
  return () => known;
}
