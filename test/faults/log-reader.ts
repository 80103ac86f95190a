import { createHash } from "node:crypto";
import { connect, type StoredMsg } from "nats";
import { nameWith } from "../../src/nats/names.ts";
import type { TestNats } from "../support/services.ts";

/** One event of the log, as its bytes say, with nothing of the service's own decoding. */
export type RawEvent = {
  /** Of its entry. */
  readonly sequence: number;
  /** Its position in the entry. */
  readonly index: number;
  /** Of the subject and the bytes of its entry. */
  readonly sha256: string;
  readonly jobId: string;
  readonly type: string;
  readonly time: string;
  readonly data: Readonly<Record<string, unknown>>;
};

export type LogReader = {
  /** Every event from the first entry that it reads, read anew. */
  readAll(): Promise<readonly RawEvent[]>;
  /** Every event from the first entry that it reads; what was read before is not read again. */
  read(): Promise<readonly RawEvent[]>;
  /** Deletes a consumer of the turns, as an operator's slip would. */
  deleteTurnsConsumer(name: string): Promise<void>;
  /** Deletes the consumers by which processes follow the log. */
  deleteReaders(): Promise<void>;
  /** Deletes what listeners know of how far they have come. */
  deleteCheckpoints(): Promise<void>;
  /** Deletes every consumer of the log and of the turns. */
  deleteConsumers(): Promise<void>;
  /** Deletes the stream of turns. */
  deleteTurns(): Promise<void>;
  /** Those over the log and over the turns. */
  countConsumers(): Promise<number>;
  bytes(): Promise<number>;
  /** Sets how large the log may become, as an operator would; -1 for no limit. */
  limitTo(maxBytes: number): Promise<void>;
  close(): Promise<void>;
};

const atOnce = 200;

/** What is before the first entry that it reads is not looked at. */
export async function openLogReader(
  { config, prefix }: Pick<TestNats, "config" | "prefix">,
  first = 1,
): Promise<LogReader> {
  const { servers, user, password } = config;
  const login = user === null ? {} : { user, ...(password === null ? {} : { pass: password }) };
  const connection = await connect({
    servers: [...servers],
    ...login,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 200,
    pingInterval: 2000,
  });
  const stream = nameWith(prefix, "JOBS");
  const manager = await connection.jetstreamManager({ checkAPI: false });
  const bucket = await connection.jetstream().views.kv(nameWith(prefix, "CHECKPOINTS"));
  const known: RawEvent[] = [];

  const readFrom = async (sequence: number): Promise<RawEvent[]> => {
    const { state } = await manager.streams.info(stream);
    const events: RawEvent[] = [];
    // Each message from the leader: a consumer is lost with its node, and the client notices that half a minute later.
    for (let first = sequence; first <= state.last_seq; first += atOnce) {
      const count = Math.min(atOnce, state.last_seq - first + 1);
      const messages = Array.from({ length: count }, (_, index) =>
        manager.streams.getMessage(stream, { seq: first + index }),
      );
      for (const message of await Promise.all(messages)) events.push(...toRawEvents(message));
    }
    return events;
  };

  const deleteTurnsConsumer: LogReader["deleteTurnsConsumer"] = async (name) => {
    await manager.consumers.delete(nameWith(prefix, "TURNS"), name).catch((failure: unknown) => {
      // NATS 2.9 deletes it, and then fails to remove a folder into which it is still writing.
      if (!/directory not empty/.test(String(failure))) throw failure;
    });
  };
  const deleteReaders = async (): Promise<void> => {
    for await (const { name } of manager.consumers.list(stream)) await manager.consumers.delete(stream, name);
  };

  return {
    readAll: () => readFrom(first),
    read: async () => {
      known.push(...(await readFrom((known.at(-1)?.sequence ?? first - 1) + 1)));
      return known;
    },
    deleteTurns: async () => {
      await manager.streams.delete(nameWith(prefix, "TURNS"));
    },
    deleteTurnsConsumer,
    deleteConsumers: async () => {
      await deleteReaders();
      for await (const { name } of manager.consumers.list(nameWith(prefix, "TURNS"))) await deleteTurnsConsumer(name);
    },
    deleteReaders,
    deleteCheckpoints: async () => {
      for await (const key of await bucket.keys()) await bucket.purge(key);
    },
    countConsumers: async () => {
      const streams = await Promise.all([stream, nameWith(prefix, "TURNS")].map((name) => manager.streams.info(name)));
      return streams.reduce((sum, { state }) => sum + state.consumer_count, 0);
    },
    bytes: async () => (await manager.streams.info(stream)).state.bytes,
    limitTo: async (maxBytes) => {
      const { config: streamConfig } = await manager.streams.info(stream);
      await manager.streams.update(stream, { ...streamConfig, max_bytes: maxBytes });
    },
    close: () => connection.close(),
  };
}

/**
 * The same stage, whose log begins now. Looking through all that many cells have left in it, again and again, would hold up
 * the whole process, and with it the doors between the service and its servers.
 */
export async function fromNowOn<Stage extends { readonly log: LogReader }>(stage: Stage): Promise<Stage> {
  const { log } = stage;
  const before = (await log.read()).length;
  return { ...stage, log: { ...log, read: async () => (await log.read()).slice(before) } };
}

type Envelope = Pick<RawEvent, "type" | "time" | "data"> & { readonly subject: string };

function toRawEvents({ seq, subject, data: bytes }: StoredMsg): readonly RawEvent[] {
  const entry: readonly Envelope[] = JSON.parse(Buffer.from(bytes).toString("utf8"));
  const sha256 = createHash("sha256").update(subject).update(bytes).digest("hex");
  return entry.map(({ type, time, subject: jobId, data }, index) => ({
    ...{ sequence: seq, index, sha256, jobId, type, time, data },
  }));
}
