import { createHash } from "node:crypto";
import { connect, type JsMsg } from "nats";
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
  /** Every event from the beginning, read anew. */
  readAll(): Promise<readonly RawEvent[]>;
  /** Every event from the beginning; what was read before is not read again. */
  read(): Promise<readonly RawEvent[]>;
  /** Deletes a durable consumer of the log or of the turns, as an operator's slip would. */
  deleteConsumer(stream: "JOBS" | "TURNS", name: string): Promise<void>;
  /** Deletes the stream of turns. */
  deleteTurns(): Promise<void>;
  /** Those over the log and over the turns. */
  countConsumers(): Promise<number>;
  bytes(): Promise<number>;
  /** Sets how large the log may become, as an operator would; -1 for no limit. */
  limitTo(maxBytes: number): Promise<void>;
  close(): Promise<void>;
};

export async function openLogReader({ config, prefix }: TestNats): Promise<LogReader> {
  const { servers, user, password } = config;
  const login = user === null ? {} : { user, ...(password === null ? {} : { pass: password }) };
  const connection = await connect({
    servers: [...servers],
    ...login,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 200,
  });
  const stream = `${prefix}_JOBS`;
  const manager = await connection.jetstreamManager({ checkAPI: false });
  const known: RawEvent[] = [];

  const readFrom = async (first: number): Promise<RawEvent[]> => {
    const { state } = await manager.streams.info(stream);
    const events: RawEvent[] = [];
    if (state.last_seq < first) return events;
    const consumer = await connection.jetstream().consumers.get(stream, { opt_start_seq: first });
    const messages = await consumer.consume({ max_messages: 1000 });
    for await (const message of messages) {
      events.push(...toRawEvents(message));
      if (message.seq >= state.last_seq) break;
    }
    await consumer.delete().catch(() => {});
    return events;
  };

  return {
    readAll: () => readFrom(1),
    read: async () => {
      known.push(...(await readFrom((known.at(-1)?.sequence ?? 0) + 1)));
      return known;
    },
    deleteTurns: async () => {
      await manager.streams.delete(`${prefix}_TURNS`);
    },
    deleteConsumer: async (ofStream, name) => {
      await manager.consumers.delete(`${prefix}_${ofStream}`, name).catch((failure: unknown) => {
        // NATS 2.9 deletes it, and then fails to remove a folder into which it is still writing.
        if (!/directory not empty/.test(String(failure))) throw failure;
      });
    },
    countConsumers: async () => {
      const streams = await Promise.all([stream, `${prefix}_TURNS`].map((name) => manager.streams.info(name)));
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

type Envelope = Pick<RawEvent, "type" | "time" | "data"> & { readonly subject: string };

function toRawEvents({ seq, subject, data: bytes }: JsMsg): readonly RawEvent[] {
  const entry: readonly Envelope[] = JSON.parse(Buffer.from(bytes).toString("utf8"));
  const sha256 = createHash("sha256").update(subject).update(bytes).digest("hex");
  return entry.map(({ type, time, subject: jobId, data }, index) => ({
    ...{ sequence: seq, index, sha256, jobId, type, time, data },
  }));
}
