import { readFileSync } from "node:fs";
import { type ConnectionOptions, connect, credsAuthenticator, type NatsConnection } from "nats";
import { LogUnavailable } from "./event-log.ts";
import { isUnanswered, isUnreachable, waitSilently } from "./jetstream-outages.ts";
import { createRequests, type Requests } from "./jetstream-requests.ts";
import { completePool } from "./jetstream-server-pool.ts";
import type { Patience } from "./patience.ts";

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
  readonly close: () => Promise<void>;
};

type Notice = (message: string) => void;

/**
 * Waits for the server as `patiently` does, as long as it takes by default; once it stands, the connection is never
 * given up. Throws what the client throws, at once where waiting does not help.
 */
export async function connectJetStream(
  settings: ConnectSettings,
  name: string,
  notice: Notice,
  patiently: Patience = waitSilently,
): Promise<JetStreamConnection> {
  const nats = await connectFirst(settings, name, patiently);
  const listeners = new Set<() => void>();
  let isConnected = true;
  const isUp = (): boolean => isConnected && !nats.isClosed();
  const requests = createRequests(nats, isUp);
  const watch = async (): Promise<void> => {
    for await (const status of nats.status()) {
      if (status.permissionContext?.operation === "publish") requests.refuse(status.permissionContext.subject);
      if (status.type === "disconnect") {
        isConnected = false;
        notice("The connection to NATS is lost; trying again until it stands.");
      }
      if (status.type === "reconnect") {
        isConnected = true;
        notice("The connection to NATS stands again.");
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
    onReconnect: (reconnected) => {
      listeners.add(reconnected);
      return () => listeners.delete(reconnected);
    },
    close: async () => {
      // A drain flushes the acknowledgements that are still in the buffer; without a connection there is no use in it.
      requests.flush();
      if (isUp()) await nats.drain().catch(() => nats.close());
      else await nats.close();
    },
  };
}

async function connectFirst(settings: ConnectSettings, name: string, patiently: Patience): Promise<NatsConnection> {
  let isWanted = true;
  const tryOnce = async (): Promise<NatsConnection> => {
    try {
      // By itself the client would try until it is there, and nobody could tell it to stop.
      const nats = await connect({ ...toOptions(settings, name), waitOnFirstConnect: false });
      if (!isWanted) await nats.close();
      return nats;
    } catch (failure) {
      throw isUnreachable(failure) ? new LogUnavailable("NATS cannot be reached.", { cause: failure }) : failure;
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
    pingInterval: 10_000,
    maxPingOut: 2,
    ...(settings.user === null ? {} : { user: settings.user }),
    ...(settings.password === null ? {} : { pass: settings.password }),
    ...(settings.credsFile === null ? {} : { authenticator: credsAuthenticator(readFileSync(settings.credsFile)) }),
    ...(settings.caFile === null ? {} : { tls: { caFile: settings.caFile } }),
  };
}

export { isUnanswered };

/** Runs a request; what is no answer becomes LogUnavailable, and without a connection it is not even tried. */
export async function asking<Answer>(connection: JetStreamConnection, ask: () => Promise<Answer>): Promise<Answer> {
  if (!connection.isUp()) throw new LogUnavailable("There is no connection to NATS.");
  try {
    return await ask();
  } catch (failure) {
    if (isUnanswered(failure)) throw new LogUnavailable("NATS did not answer.", { cause: failure });
    throw failure;
  }
}

export const nanosOf = (ms: number): number => ms * 1_000_000;
