import { readFileSync } from "node:fs";
import { type Authenticator, type ConnectionOptions, connect, credsAuthenticator, type NatsConnection } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { onAdvisory } from "./advisories.ts";
import { endTransportsInTime } from "./client-transports.ts";
import { createMove } from "./move.ts";
import { byAnyAnswer, byStream } from "./node-judgement.ts";
import { watchNode } from "./node-watch.ts";
import { isRefusal, isUnanswered, isUnreachable, waitSilently } from "./outages.ts";
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

/** One connection to NATS, and whether it is up: while it is down, requests are refused at once and not queued. */
export type JetStreamConnection = {
  readonly nats: NatsConnection;
  readonly isUp: () => boolean;
  /** Calls back each time the connection is up again: requests in flight are lost then. */
  readonly onReconnect: (reconnected: () => void) => () => void;
  /** A request to NATS; `asking` interprets its failures. */
  readonly request: Requests["request"];
  readonly say: Requests["say"];
  readonly along: Requests["along"];
  /** Reports a request without an answer: the connection then checks whether its current server is at fault. */
  readonly unanswered: () => void;
  readonly close: () => Promise<void>;
};

type Notice = (message: string) => void;

/** How the client chooses among the nodes of a cluster. */
export type NodeChoice = {
  /** The stream that a node has to lead to, with a majority of its replicas; without it, JetStream only has to answer. */
  readonly judgedBy?: string;
  /** The streams that requests are for: once one of them has a new leader, no request waits for the former one. */
  readonly asked?: readonly string[];
  /** How often it looks whether a node that it prefers is back. */
  readonly lookEveryMs?: number;
};

/**
 * Waits for the server as `patiently` does, without a time limit by default. Once connected, it never gives up the
 * connection, and moves from one server to another as node-watch.ts describes. Throws the client's error, at once if
 * waiting does not help.
 */
export async function connectJetStream(
  settings: ConnectSettings,
  name: string,
  notice: Notice,
  patiently: Patience = waitSilently,
  { judgedBy, asked = [], lookEveryMs }: NodeChoice = {},
): Promise<JetStreamConnection> {
  const inOrder = createPreference();
  const nats = await connectFirst({ ...settings, servers: inOrder(settings.servers) }, name, patiently);
  const listeners = new Set<() => void>();
  let isConnected = true;
  let isMoving = false;
  const isUp = (): boolean => (isConnected || isMoving) && !nats.isClosed();
  const requests = createRequests(nats, isUp, () => node.unanswered());
  for (const stream of asked) onAdvisory(nats, `STREAM.LEADER_ELECTED.${stream}`, requests.hurry);
  const onReconnect = (reconnected: () => void) => {
    listeners.add(reconnected);
    return () => listeners.delete(reconnected);
  };
  const move = createMove(nats, requests, onReconnect, (moving) => {
    isMoving = moving;
  });
  const node = watchNode({
    nats,
    isUp,
    isWorking: judgedBy === undefined ? byAnyAnswer : byStream(judgedBy),
    inOrder,
    notice,
    visit: (address) => connect({ ...toOptions(settings, `${name}-visit`), ...forVisit, servers: [address] }),
    leaveFor: (address) => {
      goNextTo(nats, address);
      // It rejects where the connection is being closed.
      nats.reconnect().catch(() => {});
    },
    moveTo: move,
    ...(lookEveryMs === undefined ? {} : { lookEveryMs }),
  });
  let isRefused = false;
  const watch = async (): Promise<void> => {
    for await (const status of nats.status()) {
      if (status.permissionContext?.operation === "publish") requests.refuse(status.permissionContext.subject);
      if (isRefusal(status) && !isRefused) {
        isRefused = true;
        notice("NATS refuses the login: its password has changed, or expired. Check NATS_PASSWORD, or NATS_CREDS.");
      }
      if (status.type === "disconnect") {
        isConnected = false;
        if (!isMoving) notice("The connection to NATS was lost; reconnecting.");
      }
      if (status.type === "reconnect") {
        isConnected = true;
        isRefused = false;
        node.connected();
        if (!isMoving) notice("The connection to NATS is up again.");
        for (const reconnected of listeners) reconnected();
      }
    }
  };
  // The client's status iterator does not end with the connection: no code may await it.
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
      // A drain flushes the acknowledgements that are still in the buffer; without a connection it is useless.
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
      // Left alone, the client would retry until the server is there, and could not be stopped.
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
    endTransportsInTime(nats);
    return nats;
  } finally {
    isWanted = false;
  }
}

/** The settings of Waybill's connections: they never give up. */
export function toOptions(settings: ConnectSettings, name: string): ConnectionOptions {
  return {
    servers: [...settings.servers],
    name,
    // With the client's defaults it gives up for good after 20 s, and detects a dead link after 4 minutes.
    maxReconnectAttempts: -1,
    // Keeps trying after an authentication error: a server with changed accounts becomes usable again once they are
    // restored.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: 500,
    reconnectJitter: 500,
    // Applies to each server that is tried: a frozen one accepts connections, and sends nothing.
    timeout: 5000,
    // Detects a frozen server within six seconds.
    pingInterval: 2000,
    maxPingOut: 2,
    noRandomize: true,
    // Otherwise the client makes two errors for each request that succeeds, to name the caller of one that does not.
    noAsyncTraces: true,
    ...(settings.user === null ? {} : { user: settings.user }),
    ...(settings.password === null ? {} : { pass: settings.password }),
    ...(settings.credsFile === null ? {} : { authenticator: credentialsIn(settings.credsFile) }),
    ...(isEncrypted(settings) ? { tls: settings.caFile === null ? {} : { caFile: settings.caFile } } : {}),
  };
}

/**
 * Reads the file at each connect: credentials expire, and are replaced while the process runs. While the file is away or
 * half written, those that were read last go on: the client would close the connection for good.
 */
function credentialsIn(file: string): Authenticator {
  let known = credsAuthenticator(readFileSync(file));
  return (nonce) => {
    try {
      const found = credsAuthenticator(readFileSync(file));
      const login = found(nonce);
      known = found;
      return login;
    } catch {
      return known(nonce);
    }
  };
}

/** The client itself ignores `tls://`: it would send its password in clear to a server that offers no TLS, or seems to offer none. */
const isEncrypted = ({ servers, caFile }: ConnectSettings): boolean =>
  caFile !== null || servers.some((server) => server.startsWith("tls://"));

export { isUnanswered };

/** Runs a request. A missing answer becomes Unavailable, and without a connection the request is not attempted. */
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

/** Whether other servers may hold other parts of the same stream. */
export const isClustered = ({ nats }: JetStreamConnection): boolean => Boolean(nats.info?.cluster);

export const nanosOf = (ms: number): number => Math.round(ms * 1_000_000);

/**
 * The largest message that the server accepts, in bytes. Between two connections the client does not know it: the last
 * known value is used then.
 */
export function payloadLimit({ nats, onReconnect }: JetStreamConnection): () => number {
  let known = nats.info?.max_payload ?? 0;
  onReconnect(() => {
    known = nats.info?.max_payload ?? known;
  });
  return () => known;
}
